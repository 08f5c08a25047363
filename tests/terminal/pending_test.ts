/** What waits in the bridge, and pastes, over real sockets: bounds where nobody reads, whole where they do. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { limits } from "../../shared/limits.ts";
import { terminalClose } from "../../shared/terminal/protocol.ts";
import { TestBridge } from "../support/bridge_process.ts";
import { frame, RawClient, until, upgradeHead } from "../support/listen_support.ts";
import { DaemonGrid, hops } from "./daemon_grid.ts";
import { type Close, closeFrameOf } from "./grid_client.ts";

const { overflow, binary } = terminalClose;
const init = frame('{"type":"init","cols":80,"rows":24}');
const text = JSON.stringify({ type: "input", data: "x".repeat(200_000) });
/** Times `text`: more than the kernel's buffers of two connections take. */
const flood = 80;

/** The ship's end of one terminal. */
class ShipEnd {
  readonly received: string[] = [];
  closed: Close | null = null;
  constructor(readonly ws: WebSocket) {
    ws.on("message", (data) => this.received.push(data.toString()));
    ws.on("close", (code, reason) => this.closed = { code, reason: reason.toString() });
  }
}

/** A bridge in front of a ship that speaks sockets alone: the events, and terminals as the test says. */
class ScriptedUpstream implements AsyncDisposable {
  readonly ends: ShipEnd[] = [];
  /** False: terminals are dialled and get no answer. */
  answers = true;

  readonly #unanswered: (() => void)[] = [];

  private constructor(
    readonly bridge: TestBridge,
    private readonly http: Server,
    private readonly server: WebSocketServer,
  ) {}

  static async start(): Promise<ScriptedUpstream> {
    const bridge = await TestBridge.start({ insecure: true });
    // What a bridge pushes to its ships; a connection kept alive would keep the server from closing.
    const http = createServer((_, reply) =>
      void reply.writeHead(404, { connection: "close" }).end()
    );
    const server = new WebSocketServer({
      server: http,
      verifyClient: ({ req }, answer) => {
        if (upstream.answers || req.url === "/events") answer(true);
        else upstream.#unanswered.push(() => answer(false));
      },
    });
    const upstream = new ScriptedUpstream(bridge, http, server);
    server.on("connection", (ws, { url }) => {
      if (url === "/events") ws.send(JSON.stringify(sync));
      else upstream.ends.push(new ShipEnd(ws));
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
    const registered = await bridge.ask("POST", "/ships", { body: { url } });
    assert.equal(registered.status, 201, await registered.text());
    return upstream;
  }

  async client(): Promise<RawClient> {
    const { host, port } = new URL(this.bridge.url);
    const client = new RawClient(Number(port));
    const head = upgradeHead("", "/workspaces/web/fix/terminal");
    client.write(head.replace("Host: x", `Host: ${host}`));
    await client.expect("\r\n\r\n");
    client.write(init);
    return client;
  }

  /** A client and its ship's end, through which a message has passed. */
  async pair(): Promise<{ readonly client: RawClient; readonly ship: ShipEnd }> {
    const client = await this.client();
    await until(
      "the init at the ship",
      () => this.ends.some(({ received }) => received.length > 0),
    );
    return { client, ship: this.ends.pop()! };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bridge[Symbol.asyncDispose]();
    for (const refuse of this.#unanswered) refuse();
    for (const ws of this.server.clients) ws.terminate();
    await new Promise((resolve) => this.http.close(resolve));
  }
}

const sync = {
  type: "sync",
  ship: "ark",
  at: new Date(0).toISOString(),
  workspaces: [{ repoName: "web", name: "fix", branch: "main", active: true, agent: null }],
};

async function closeFrame(client: RawClient): Promise<Close | null> {
  await until("the client's close frame", () => closeFrameOf(client) !== null);
  return closeFrameOf(client);
}

Deno.test("a ship that does not read ends both sides with 1009", async () => {
  await using upstream = await ScriptedUpstream.start();
  const { client, ship } = await upstream.pair();
  using _client = client;
  ship.ws.pause();
  for (let sent = 0; sent < flood; sent += 1) client.write(frame(text));
  assert.deepEqual(await closeFrame(client), overflow);
  ship.ws.resume();
  await until("the ship is told", () => ship.closed !== null);
  assert.deepEqual(ship.closed, overflow);
  assert.ok(ship.received.length < flood);
});

Deno.test("a client that does not read ends both sides with 1009", async () => {
  await using upstream = await ScriptedUpstream.start();
  const { client, ship } = await upstream.pair();
  using _client = client;
  client.socket.pause();
  for (let sent = 0; sent < flood; sent += 1) ship.ws.send(text);
  await until("the ship is told", () => ship.closed !== null);
  assert.deepEqual(ship.closed, overflow);
  client.socket.resume();
  assert.deepEqual(await closeFrame(client), overflow);
});

Deno.test("both sides may pause for a moment, and everything arrives in order", async () => {
  await using upstream = await ScriptedUpstream.start();
  const { client, ship } = await upstream.pair();
  using _client = client;
  const numbered = (count: number) =>
    JSON.stringify({ type: "input", data: `${count}`.padEnd(99_999) });
  ship.ws.pause();
  for (let count = 0; count < flood; count += 1) client.write(frame(numbered(count)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  ship.ws.resume();
  await until("everything at the ship", () => ship.received.length === 1 + flood);
  for (let count = 0; count < flood; count += 1) {
    assert.ok(ship.received[1 + count] === numbered(count), `message ${count}`);
  }
  client.socket.pause();
  for (let count = 0; count < flood; count += 1) ship.ws.send(numbered(count));
  ship.ws.close(4001, "said everything");
  await new Promise((resolve) => setTimeout(resolve, 500));
  client.socket.resume();
  assert.deepEqual(await closeFrame(client), { code: 4001, reason: "said everything" });
  const order = [...client.text.matchAll(/"data":"(\d+) /g)].map(([, count]) => Number(count));
  assert.deepEqual(order, Array.from({ length: flood }, (_, count) => count));
});

Deno.test("more than 256 KiB for a ship that has not answered yet ends the client with 1009", async () => {
  await using upstream = await ScriptedUpstream.start();
  upstream.answers = false;
  using client = await upstream.client();
  client.write(frame(text));
  client.write(frame("", { opcode: 9 }));
  await until("a pong", () => client.text.includes("\x8a\0"));
  assert.equal(closeFrameOf(client), null);
  client.write(frame(text));
  assert.deepEqual(await closeFrame(client), overflow);
});

const endings: Readonly<Record<string, readonly [(ship: ShipEnd) => void, Close]>> = {
  "binary": [({ ws }) => ws.send(new Uint8Array([1, 2])), binary],
  "empty binary": [({ ws }) => ws.send(new Uint8Array()), binary],
  "a close of its own": [({ ws }) => ws.close(1008, "terminal init timeout"), {
    code: 1008,
    reason: "terminal init timeout",
  }],
  "a close without a code": [({ ws }) => ws.close(), { code: 1005, reason: "" }],
  "a message too large": [
    ({ ws }) => ws.send("x".repeat(limits.terminalPayloadBytesMax + 1)),
    { code: 1011, reason: "" },
  ],
  "no close frame": [({ ws }) => ws.terminate(), { code: 1011, reason: "" }],
};

Deno.test("what the ship ends with, the client is told", async () => {
  await using upstream = await ScriptedUpstream.start();
  for (const [what, [act, ending]] of Object.entries(endings)) {
    const { client, ship } = await upstream.pair();
    using _client = client;
    act(ship);
    assert.deepEqual(await closeFrame(client), ending, what);
    await until(`the ship's end too (${what})`, () => ship.closed !== null);
    if (ending === binary) assert.deepEqual(ship.closed, binary, what);
  }
});

Deno.test("a paste of 1 MB arrives byte for byte over both routes", async () => {
  await using grid = await DaemonGrid.start();
  const data = everyKind(1_000_000);
  const bytes = new TextEncoder().encode(data);
  for (const hop of hops) {
    const file = grid.place.at(`paste-${hop}`);
    const script = `stty raw -echo; echo ready; head -c ${bytes.length} > ${file}; echo taken; cat`;
    await grid.workspace(hop, script);
  }
  await Promise.all(hops.map(async (hop) => {
    const client = await grid.attached(hop, hop);
    await client.shows("ready");
    for (const piece of pieces(data, limits.terminalInputBytesMax)) client.type(piece);
    await client.shows("taken", 60_000);
    const arrived = await Deno.readFile(grid.place.at(`paste-${hop}`));
    assert.equal(hashOf(arrived), hashOf(bytes), hop);
    client.socket.close(1000);
    await client.closes();
  }));
});

Deno.test("half of a surrogate pair, which no UTF-8 can be, arrives as U+FFFD over both routes", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) {
    const file = grid.place.at(`half-${hop}`);
    await grid.workspace(hop, `stty raw -echo; echo ready; head -c 5 > ${file}; echo taken; cat`);
  }
  await Promise.all(hops.map(async (hop) => {
    const client = await grid.attached(hop, hop);
    await client.shows("ready");
    client.type("<\ud83d>");
    await client.shows("taken");
    assert.equal(await Deno.readTextFile(grid.place.at(`half-${hop}`)), "<\ufffd>");
    client.socket.close(1000);
    await client.closes();
  }));
});

Deno.test("characters whose bytes come one by one are shown right over both routes", async () => {
  await using grid = await DaemonGrid.start();
  const shown = "é€漢😀 ☃ e\u0301";
  const octal = [...new TextEncoder().encode(shown)].map((byte) =>
    `printf '\\${byte.toString(8).padStart(3, "0")}'; sleep 0.03`
  );
  for (const hop of hops) await grid.workspace(hop, `${octal.join("; ")}; echo; echo done; cat`);
  await Promise.all(hops.map(async (hop) => {
    const client = await grid.attached(hop, hop);
    await client.shows("done");
    assert.ok(client.text.includes(shown), client.text);
    client.socket.close(1000);
    await client.closes();
  }));
});

/** Text of `bytesMin` bytes or a little more, of characters of one to four bytes; tmux's prefix is not in it. */
function everyKind(bytesMin: number): string {
  const encoder = new TextEncoder();
  let line = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join("");
  line += "\t\r\néß漢字€😀";
  return line.repeat(Math.ceil(bytesMin / encoder.encode(line).length));
}

/** `text` in pieces of at most `bytesMax` bytes, cut between code points. */
function* pieces(text: string, bytesMax: number): Generator<string> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(at + bytesMax, bytes.length);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end -= 1;
    yield new TextDecoder().decode(bytes.subarray(at, end));
    at = end;
  }
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
