/** Puts the audit log around the handlers that change something: which ones, and what each is about. */
import type { BridgeApi } from "../shared/api/bridge_api.ts";
import type { Call, Handler, Handlers } from "../shared/http/router.ts";
import type { Audit, AuditAction } from "./auth/audit.ts";
import type { Principal } from "./auth/principals.ts";

type Names = keyof BridgeApi;
type AnyCall = { readonly params: Readonly<Record<string, unknown>>; readonly body: unknown };

const ofParams = ({ params }: AnyCall) => Object.values(params).join("/");
const ofBody = (...fields: readonly string[]) => ({ body }: AnyCall) =>
  fields.map((field) => String((body as Readonly<Record<string, unknown>>)[field])).join("/");

const rows: Partial<
  Record<Names, { readonly action: AuditAction; readonly target: (call: AnyCall) => string }>
> = {
  registerShip: { action: "ship.register", target: ofBody("url") },
  removeShip: { action: "ship.remove", target: ofParams },
  createRepo: { action: "repo.register", target: ofBody("name") },
  removeRepo: { action: "repo.remove", target: ofParams },
  createWorkspace: { action: "workspace.create", target: ofBody("repoName", "name") },
  deleteWorkspace: { action: "workspace.delete", target: ofParams },
  activateWorkspace: { action: "workspace.activate", target: ofParams },
  terminal: { action: "terminal.attach", target: ofParams },
  deactivateWorkspace: { action: "workspace.deactivate", target: ofParams },
};

/** The same handlers; those of the rows above leave a line each time. */
export function audited(
  audit: Audit,
  handlers: Handlers<BridgeApi, Principal>,
): Handlers<BridgeApi, Principal> {
  const wrapped: Record<string, unknown> = { ...handlers };
  for (const [name, row] of Object.entries(rows)) {
    const handler = handlers[name as Names] as Handler<BridgeApi[Names], Principal>;
    wrapped[name] = (call: Call<BridgeApi[Names], Principal>) =>
      audit.track({
        principal: call.principal,
        action: row.action,
        target: row.target(call as AnyCall),
        address: call.connection.remoteAddress,
      }, async () => await handler(call));
  }
  return wrapped as Handlers<BridgeApi, Principal>;
}
