import assert from "node:assert/strict";
import { tunnel } from "../../bridge/routing/tunnel.ts";
import { dial } from "../../shared/host/dial.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import type { ClientFrame } from "../../shared/terminal/protocol.ts";
import { until, withListener } from "../support/listen_support.ts";
import { corpusEntry } from "./corpus.ts";
import { sessionName, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("8");
const options = {
  compress: true,
  payloadBytesMax: limits.terminalPayloadBytesMax,
  openTimeoutMs: 5_000,
} as const;

class RemoteClient {
  readonly follower = new ScreenFollower();
  exitCode: number | null = null;
  closed: { code: number; reason: string } | null = null;
  constructor(readonly socket: Socket) {
    socket.onText((text) => {
      const received = this.follower.receive(text);
      if (received.kind === "exit") this.exitCode = received.code;
      else for (const frame of received.send) this.send(frame);
    });
    socket.onClose((code, reason) => this.closed = { code, reason });
  }
  send(frame: ClientFrame): void {
    this.socket.send(JSON.stringify(frame));
  }
  get text(): string {
    const grid = this.follower.grid;
    return grid === null ? "" : grid.lines.map((_, y) => grid.text(y)).join("\n");
  }
}

Deno.test("through a bridge and a ship, over sockets with deflate, the screen is the same", async () => {
  await using tmux = await TmuxFixture.start();
  await Deno.writeTextFile(
    `${tmux.folder}/play`,
    corpusEntry("wide, combining, joined and right-to-left text")[1] as string,
  );
  await tmux.session(name, `cat ${tmux.folder}/play; exec sh`);
  const ship = (request: Request, connection: Parameters<Parameters<typeof withListener>[0]>[1]) =>
    connection.upgrade(request, {
      ...options,
      onSocket: (socket) => tmux.terminals.serve(socket, name),
    });
  await withListener(ship, async (shipListener) => {
    const upstream = (signal: AbortSignal) =>
      dial(`ws://127.0.0.1:${shipListener.port}/`, { ...options, signal });
    await withListener((request, connection) =>
      connection.upgrade(request, {
        ...options,
        onSocket: (socket) => void tunnel(socket, upstream),
      }), async (bridgeListener) => {
      const client = new RemoteClient(
        await dial(`ws://127.0.0.1:${bridgeListener.port}/`, options),
      );
      client.send({ type: "init", cols: 80, rows: 24 });
      await until("the text is there", () => client.text.includes("漢字かな한글"));
      client.send({ type: "input", data: "seq 1 2000; echo la''st\r" });
      await until("the flood is over", () => /^last$/m.test(client.text));
      client.send({ type: "resize", cols: 200, rows: 50 });
      await until("the size is new", () => client.follower.grid?.cols === 200);
      client.send({ type: "input", data: "exit 6\r" });
      await until("it is closed", () => client.closed !== null);
      assert.equal(client.exitCode, 6);
      assert.deepEqual(client.closed, { code: 1000, reason: "" });
      assert.equal(tmux.terminals.open, 0);

      const bad = new RemoteClient(await dial(`ws://127.0.0.1:${bridgeListener.port}/`, options));
      bad.socket.send("{");
      await until("it is closed", () => bad.closed !== null);
      assert.deepEqual(bad.closed, { code: 1008, reason: "Invalid terminal message" });
      await until("the guard is free", () => tmux.terminals.open === 0);
    });
  });
});
