/** Every principal against every route and method of the interface, over HTTP and as WebSocket upgrades. */
import assert from "node:assert/strict";
import { AgentTokens } from "../../bridge/auth/agent_tokens.ts";
import { AuthStore } from "../../bridge/auth/store.ts";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { dial, DialError } from "../../shared/host/dial.ts";
import type { ShipName } from "../../shared/ids.ts";
import { adminPassword, TestBridge } from "../support/bridge_process.ts";
import {
  type Expected,
  type PermissionRow,
  permissionTable,
  type PrincipalKind,
  principalKinds,
} from "./permission_table.ts";

const memberPassword = "mia's own password";

/** The bearer tokens of the principals, renewed where a row has used them up. */
class Tokens {
  ship = "";
  shipAgent = "";
  readonly #sessions = new Map<string, string>();

  constructor(private readonly bridge: TestBridge) {}

  async of(kind: PrincipalKind): Promise<string | null> {
    switch (kind) {
      case "none":
      case "ticket":
        return null;
      case "badToken":
        return "bm9ib2R5IHdhcyBnaXZlbiB0aGlzIHRva2VuLCBldmVy";
      case "ship":
        return this.ship;
      case "shipAgent":
        return this.shipAgent;
      case "admin":
        return await this.#session("ada", adminPassword);
      case "member":
        return await this.#session("mia", memberPassword);
    }
  }

  async ticket(): Promise<string> {
    const response = await this.bridge.ask("POST", "/auth/ws-ticket", {
      token: await this.of("member"),
    });
    return (await response.json()).ticket;
  }

  async #session(username: string, password: string): Promise<string> {
    const known = this.#sessions.get(username);
    if (known !== undefined && await this.#works(known)) return known;
    if (username === "mia") await this.#createMia();
    const token = await this.bridge.login(username, password);
    this.#sessions.set(username, token);
    return token;
  }

  async #works(token: string): Promise<boolean> {
    const response = await this.bridge.ask("GET", "/auth/me", { token });
    await response.body?.cancel();
    return response.ok;
  }

  async #createMia(): Promise<void> {
    const body = { username: "mia", email: "mia@example.test", password: memberPassword };
    const token = await this.of("admin");
    const response = await this.bridge.ask("POST", "/users", { token, body });
    await response.body?.cancel();
    assert.ok([201, 409].includes(response.status), `mia exists: ${response.status}`);
  }
}

async function prepare(bridge: TestBridge): Promise<Tokens> {
  const tokens = new Tokens(bridge);
  tokens.ship = bridge.answer.ships[0]!.shipToken;
  using store = await AuthStore.open(
    `${bridge.dataDirectory}/auth.db`,
    (path) => Deno.openKv(path),
  );
  tokens.shipAgent = await new AgentTokens(store).mint("alpha" as ShipName);
  return tokens;
}

const outcome = (status: number): Expected => status === 401 || status === 403 ? status : "pass";

async function overHttp(
  bridge: TestBridge,
  row: PermissionRow,
  token: string | null,
): Promise<number> {
  const body = row.method === "GET" ? undefined : {};
  const response = await bridge.ask(row.method, row.path, { token, body });
  await response.body?.cancel();
  return response.status;
}

/** The status of an upgrade request; 101 when a socket opened. */
async function asUpgrade(
  bridge: TestBridge,
  path: string,
  { token, ticket }: { token: string | null; ticket: string | null },
): Promise<number> {
  const query = ticket === null ? "" : `?ticket=${ticket}`;
  const headers: Record<string, string> = token === null
    ? {}
    : { authorization: `Bearer ${token}` };
  try {
    const socket = await dial(`${bridge.url.replace("http", "ws")}${path}${query}`, {
      headers,
      openTimeoutMs: 10_000,
    });
    const closed = new Promise<void>((resolve) => socket.onClose(() => resolve()));
    socket.terminate();
    await closed;
    return 101;
  } catch (thrown) {
    if (thrown instanceof DialError && thrown.status !== undefined) return thrown.status;
    throw thrown;
  }
}

/** A route of the interface that the bridge does not have yet: until then its path is an unknown one. */
function waits({ served, method, path }: PermissionRow): boolean {
  const segments = path.split("/");
  return served && !Object.values(bridgeApi).some((endpoint) => {
    const parts = endpoint.path.split("/");
    return endpoint.method === method && parts.length === segments.length &&
      parts.every((part, index) => part.startsWith(":") || part === segments[index]);
  });
}

for (const { method, path } of permissionTable.filter(waits)) {
  Deno.test({ name: `who may ${method} ${path}: waits for its route`, ignore: true, fn() {} });
}

Deno.test("every principal, every route, over HTTP and as an upgrade", async () => {
  await using bridge = await TestBridge.start({ ships: ["alpha"] });
  const tokens = await prepare(bridge);
  const wrong: string[] = [];
  const check = (row: PermissionRow, kind: PrincipalKind, how: string, status: number) => {
    if (outcome(status) === row.expected[kind]) return;
    wrong.push(`${how} ${row.method} ${row.path} as ${kind}: ${status}, not ${row.expected[kind]}`);
  };
  for (const row of permissionTable.filter((row) => !waits(row))) {
    for (const kind of principalKinds) {
      const token = await tokens.of(kind);
      if (kind !== "ticket") check(row, kind, "HTTP", await overHttp(bridge, row, token));
      if (row.method !== "GET") continue;
      const ticket = kind === "ticket" ? await tokens.ticket() : null;
      check(row, kind, "WS", await asUpgrade(bridge, row.path, { token, ticket }));
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("in insecure mode nobody is asked, and headers are not read", async () => {
  await using bridge = await TestBridge.start({ insecure: true });
  const mode = await (await bridge.ask("GET", "/auth/mode")).json();
  assert.deepEqual(mode, { authRequired: false });
  for (const token of [null, "whatever this is"]) {
    const response = await bridge.ask("GET", "/users", { token });
    assert.deepEqual([response.status, await response.json()], [200, []]);
  }
});
