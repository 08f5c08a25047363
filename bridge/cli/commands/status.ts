/** `grid status`: the fleet at a glance. */
import type { ShipSystemResources } from "../../../shared/schema/ship.ts";
import { type Context, print } from "../context.ts";
import { bytesText, type Cell, count, durationText, facts, table } from "../output.ts";
import { statusCell } from "./ship.ts";

export async function showStatus(_: unknown, context: Context): Promise<void> {
  const { client } = context;
  // First alone: where nobody listens, one clear failure is enough.
  const { authRequired } = await client.call("authMode", {});
  const me = authRequired ? await client.call("me", {}) : null;
  const [ships, workspaces, resources, repos] = await Promise.all([
    client.call("listShips", {}),
    client.call("listWorkspaces", {}),
    client.call("allResources", {}),
    client.call("listRepos", {}),
  ]);
  const active = workspaces.filter((one) => one.active).length;
  const online = ships.filter((one) => one.status === "online").length;
  const value = {
    url: context.url,
    authRequired,
    user: me,
    ships,
    repos: repos.length,
    workspaces: { total: workspaces.length, active },
    resources,
  };
  const mode: Cell = authRequired
    ? { text: "sign-in required", colour: "green" }
    : { text: "insecure: no sign-in, anyone who reaches it is an admin", colour: "yellow" };
  const head = facts([
    ["bridge", context.url],
    ["access", mode],
    ...(me === null ? [] : [["signed in as", `${me.username} (${me.role})`] as const]),
    ["ships", `${ships.length}, ${online} online`],
    ["repos", String(repos.length)],
    ["workspaces", `${workspaces.length}, ${active} active`],
  ], context.paint);
  const next = ships.length === 0
    ? "\nnext: grid ship add <url>\n"
    : repos.length === 0
    ? "\nnext: grid repo add <name> <url>\n"
    : workspaces.length === 0
    ? "\nnext: grid new <repo> <name>\n"
    : "";
  const hosts = resources.length === 0 ? "" : `\n${hostTable(resources, workspaces, context)}`;
  print(context, value, head + hosts + next);
}

function hostTable(
  resources: readonly ShipSystemResources[],
  workspaces: ReadonlyArray<{ readonly ship: string }>,
  context: Context,
): string {
  return table(
    ["SHIP", "STATUS", "WORKSPACES", "CPU", "LOAD", "MEMORY", "UP", "HOST"],
    resources.map(({ ship, status, resources: host, error }) => {
      const held = String(workspaces.filter((one) => one.ship === ship).length);
      if (host === null) {
        return [ship, statusCell(status), held, "-", "-", "-", "-", error ?? "-"];
      }
      const { cpu, memory, os } = host;
      return [
        ship,
        statusCell(status),
        held,
        { text: `${Math.round(cpu.usage * 100)} % of ${count(cpu.cores, "core")}` },
        cpu.loadAverage[0].toFixed(2),
        `${bytesText(memory.used)} of ${bytesText(memory.total)}`,
        durationText(host.uptimeSeconds),
        `${os.hostname} (${os.type} ${os.arch})`,
      ];
    }),
    context,
  );
}
