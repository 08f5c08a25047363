/** A tmux session of the bench's own, and a client that gets its bytes over whatever wire. */
import { eventually } from "../../support/grid_process.ts";
import { startCommands } from "../../../ship/tmux/commands.ts";
import { type BenchPlace, type Peer, Sight, type Size } from "./peer.ts";
import { descendantsOf } from "./processes.ts";

export const session = "bench";
/** What every peer shows. */
export const attachCommand = ["tmux", "-u", "-L", "bench", "attach", "-t", session];
export const decoderOf = () => {
  const decoder = new TextDecoder();
  return (bytes: Uint8Array) => decoder.decode(bytes, { stream: true });
};

export async function tmux(
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
export async function startSession(place: BenchPlace, size: Size): Promise<void> {
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

/** How the client is reached. */
export interface Wire {
  send(text: string): void;
  readonly serverPid: () => Promise<number[]>;
  end(): Promise<void>;
}

/** A client that gets bytes, over whatever wire. */
export class BytePeer implements Peer {
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
export function underPty(
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
