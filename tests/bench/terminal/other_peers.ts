/** The peers: what people use today to look at a tmux session from afar, and tmux itself beside it. */
import { join } from "node:path";
import { WebSocket } from "ws";
import { type Daemon, startDaemon } from "../../../shared/host/daemon.ts";
import { findProgram } from "../../../shared/host/files.ts";
import {
  attachCommand,
  BytePeer,
  decoderOf,
  session,
  startSession,
  tmux,
  underPty,
} from "./byte_peer.ts";
import { type BenchPlace, type PeerKind, Sight } from "./peer.ts";

const missingProgram = async (name: string, why: string) =>
  await findProgram(name, Deno.env.get("PATH") ?? "") === null
    ? `${name} is not installed${why}`
    : null;

/** `tmux attach` under a PTY on this machine: no network at all. */
export const bareKind: PeerKind = {
  name: "tmux attach",
  ours: false,
  missing: () => missingProgram("script", ""),
  async open(place, size) {
    await startSession(place, size);
    const sight = new Sight();
    const { child, send, ended } = underPty(place, {
      command: attachCommand,
      size,
      sight,
    });
    return new BytePeer(place, sight, {
      send,
      serverPid: () => Promise.resolve([child.pid]),
      async end() {
        await tmux(place, ["detach-client", "-s", session]).catch(() => {});
        await ended;
      },
    });
  },
};

/** mosh-server and mosh-client, without prediction: what is measured is the screen that is true. */
export const moshKind: PeerKind = {
  name: "mosh",
  ours: false,
  missing: () => missingProgram("mosh-server", ""),
  async open(place, size) {
    await startSession(place, size);
    const { stdout, stderr } = await new Deno.Command("mosh-server", {
      args: [
        "new",
        "-i",
        "127.0.0.1",
        "-p",
        "60001:60099",
        "--",
        ...attachCommand,
      ],
      clearEnv: true,
      env: { ...place.environment, TERM: "xterm-256color" },
    }).output();
    const said = new TextDecoder().decode(stdout) +
      new TextDecoder().decode(stderr);
    const [, port, key] = /MOSH CONNECT (\d+) (\S+)/.exec(said) ?? [];
    const serverPid = Number(/pid = (\d+)/.exec(said)?.[1]);
    if (port === undefined || key === undefined || Number.isNaN(serverPid)) {
      throw new Error(`mosh-server: ${said}`);
    }
    const sight = new Sight();
    const { send, ended } = underPty(place, {
      command: ["mosh-client", "127.0.0.1", port],
      size,
      sight,
      env: { MOSH_KEY: key, MOSH_PREDICTION_DISPLAY: "never" },
    });
    return new BytePeer(place, sight, {
      send,
      serverPid: () => Promise.resolve([serverPid]),
      async end() {
        await tmux(place, ["detach-client", "-s", session]).catch(() => {});
        await ended;
      },
    });
  },
};

/** A daemon that speaks WebSocket, and a client of it. */
async function overWebSocket(
  place: BenchPlace,
  { daemon, url, protocol, hello, input, output }: {
    daemon: Daemon;
    url: string;
    protocol: string;
    hello: string;
    input: (text: string) => string;
    /** The screen's bytes in a message; null when it is about something else. */
    output: (message: Uint8Array) => Uint8Array | null;
  },
): Promise<BytePeer> {
  const sight = new Sight();
  const socket = await connected(url, protocol);
  const decode = decoderOf();
  socket.on("message", (data) => {
    const bytes = output(data as Uint8Array);
    if (bytes !== null) sight.see(decode(bytes), "stream");
  });
  const encoder = new TextEncoder();
  socket.send(encoder.encode(hello));
  return new BytePeer(place, sight, {
    send: (text) => socket.send(encoder.encode(input(text))),
    serverPid: () => Promise.resolve([daemon.pid]),
    async end() {
      socket.terminate();
      await daemon.stop();
    },
  });
}

/** The daemon says nowhere when it listens, so it is asked until it does. */
async function connected(url: string, protocol: string): Promise<WebSocket> {
  for (let tries = 0;; tries++) {
    const socket = new WebSocket(url, protocol, { perMessageDeflate: true });
    const opened = await new Promise<boolean>((resolve) => {
      socket.once("open", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (opened) return socket;
    if (tries === 100) throw new Error(`nothing answers at ${url}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const ttydPort = 47_811;
const rawPort = 47_812;

/** ttyd; its protocol is in its `src/protocol.c`: the first byte says what a message is. */
export const ttydKind: PeerKind = {
  name: "ttyd",
  ours: false,
  missing: () => missingProgram("ttyd", ": build it from its sources and put it on PATH"),
  async open(place, size) {
    await startSession(place, size);
    const daemon = startDaemon({
      path: await findProgram("ttyd", Deno.env.get("PATH") ?? "") ?? "ttyd",
      args: [
        "-p",
        `${ttydPort}`,
        "-i",
        "127.0.0.1",
        "-W",
        "-d",
        "1",
        ...attachCommand,
      ],
      env: { ...place.environment, TERM: "xterm-256color" },
    });
    return await overWebSocket(place, {
      daemon,
      url: `ws://127.0.0.1:${ttydPort}/ws`,
      protocol: "tty",
      hello: JSON.stringify({
        AuthToken: "",
        columns: size.cols,
        rows: size.rows,
      }),
      input: (text) => `0${text}`,
      output: (message) => message[0] === 0x30 ? message.subarray(1) : null,
    });
  },
};

/** A PTY's bytes as WebSocket messages and nothing else: `raw_pty.ts`. */
export const rawKind: PeerKind = {
  name: "raw PTY over ws",
  ours: false,
  missing: () => missingProgram("script", ""),
  async open(place, size) {
    await startSession(place, size);
    const daemon = startDaemon({
      path: Deno.execPath(),
      args: [
        ...[
          "run",
          "-A",
          "--cached-only",
          join(import.meta.dirname ?? ".", "raw_pty.ts"),
        ],
        ...[`${rawPort}`, `${size.cols}`, `${size.rows}`, ...attachCommand],
      ],
      env: { ...place.environment, TERM: "xterm-256color", SHELL: "/bin/sh" },
    });
    return await overWebSocket(place, {
      daemon,
      url: `ws://127.0.0.1:${rawPort}/`,
      protocol: "raw",
      hello: "",
      input: (text) => text,
      output: (message) => message,
    });
  },
};
