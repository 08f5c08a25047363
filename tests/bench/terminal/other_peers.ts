/** The peers: what people use today to look at a tmux session from afar, and tmux itself beside it. */
import { join } from "node:path";
import { WebSocket } from "ws";
import { type Daemon, startDaemon } from "../../../shared/host/daemon.ts";
import { findProgram } from "../../../shared/host/files.ts";
import { eventually } from "../../support/grid_process.ts";
import { startCommands } from "../../../ship/tmux/commands.ts";
import { type BenchPlace, type Peer, type PeerKind, Sight, type Size } from "./peer.ts";
import { descendantsOf } from "./processes.ts";

const session = "bench";
const attachCommand = ["tmux", "-u", "-L", "bench", "attach", "-t", session];
const decoderOf = () => {
  const decoder = new TextDecoder();
  return (bytes: Uint8Array) => decoder.decode(bytes, { stream: true });
};

async function tmux(
  place: BenchPlace,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const child = new Deno.Command("tmux", {
    args: ["-u", "-L", "bench", "-f", "/dev/null", ...args],
    clearEnv: true,
    env: place.environment,
    cwd: place.root,
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { success, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`tmux ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** A session with the options of the ship's. */
async function startSession(place: BenchPlace, size: Size): Promise<void> {
  const start = {
    sessionName: session,
    shell: "/bin/bash",
    sessionCommand: null,
    environment: {},
  };
  await tmux(
    place,
    ["start-server", ";", "source-file", "-"],
    startCommands(start),
  );
  await tmux(place, [
    "resize-window",
    "-t",
    session,
    "-x",
    `${size.cols}`,
    "-y",
    `${size.rows}`,
  ]);
  await tmux(place, [
    "set-option",
    "-w",
    "-t",
    session,
    "window-size",
    "latest",
  ]);
}

interface Wire {
  send(text: string): void;
  readonly serverPid: () => Promise<number[]>;
  end(): Promise<void>;
}

/** A client that gets bytes, over whatever wire. */
class BytePeer implements Peer {
  constructor(
    private readonly place: BenchPlace,
    private readonly sight: Sight,
    private readonly wire: Wire,
  ) {}

  type(text: string): void {
    this.wire.send(text);
  }
  shows(text: string, boundMs?: number): Promise<number> {
    return this.sight.shows(text, boundMs);
  }
  forget(): void {
    this.sight.forget();
  }
  quiet(quietMs: number): Promise<void> {
    return this.sight.quiet(quietMs);
  }
  tmux(...args: string[]): Promise<string> {
    return tmux(this.place, args);
  }
  async serverPids(): Promise<number[]> {
    const pids = await this.wire.serverPid();
    return [...pids, ...await descendantsOf(pids)];
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.wire.end();
    // A session that has ended has taken its server with it.
    await tmux(this.place, ["kill-server"]).catch(() => {});
    await eventually(
      "tmux is gone",
      () => tmux(this.place, ["ls"]).then(() => false, () => true),
    );
  }
}

/** Runs a command under a PTY and reads it into `sight`; `script` gives the PTY. */
function underPty(
  place: BenchPlace,
  { command, size, sight, env = {} }: {
    command: readonly string[];
    size: Size;
    sight: Sight;
    env?: Readonly<Record<string, string>>;
  },
): {
  child: Deno.ChildProcess;
  send: (text: string) => void;
  ended: Promise<void>;
} {
  const line = `stty raw -echo rows ${size.rows} cols ${size.cols}; exec ${command.join(" ")}`;
  const child = new Deno.Command("script", {
    args: ["-qefc", line, "/dev/null"],
    clearEnv: true,
    env: {
      ...place.environment,
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      ...env,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  writer.closed.catch(() => {});
  const decode = decoderOf();
  const reading = (async () => {
    for await (const bytes of child.stdout) sight.see(decode(bytes), "stream");
  })();
  const encoder = new TextEncoder();
  return {
    child,
    send: (text) => void writer.write(encoder.encode(text)).catch(() => {}),
    ended: Promise.all([child.status, reading]).then(() => {}),
  };
}

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
