/**
 * A second truth beside `capture-pane`: another tmux client, of a terminal that knows less, which draws
 * its whole screen anew whenever it is asked. It shares no byte with the client under test.
 */
import { type Grid, Grid as Cells, gridDifference } from "../../shared/terminal/grid.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { publicDifference } from "./public_cells.ts";

/** A tmux server of a test. */
export interface TmuxServer {
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a tmux command; throws when it fails. */
  tmux(...args: string[]): Promise<string>;
}

/** The features that the ship gives its client, and bracketed paste, which `xterm` has by its name. */
const features =
  "256,RGB,usstyle,overline,strikethrough,cstyle,title,clipboard,focus,mouse,sync,bpaste";
/** A redraw that brings nothing for so long is over. */
const quietMs = 300;
const encoder = new TextEncoder();

export class Witness implements AsyncDisposable {
  #emulator: Emulator;
  #woken: (() => void) | null = null;
  readonly #reading: Promise<void>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;

  private constructor(
    private readonly server: TmuxServer,
    private readonly child: Deno.ChildProcess,
    private readonly tty: string,
    private size: { cols: number; rows: number },
  ) {
    this.#emulator = new Emulator(
      size.cols,
      size.rows,
      (reply) => this.#reply(reply),
    );
    this.#stdin = child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /**
   * Attaches to `session` without a say in its size, once somebody else has: the options that the ship
   * gives a session are for the clients that come after them. Only one at a time.
   */
  static async attach(server: TmuxServer, session: string): Promise<Witness> {
    await listed(server, /^0 /m);
    const size = { cols: 80, rows: 24 };
    // `screen` has no bce: tmux writes every coloured blank as a space. It does not know hidden text.
    await server.tmux(
      "set-option",
      "-s",
      "terminal-overrides[4701]",
      "screen*:invis=\\E[8m",
    );
    const attach = `stty raw -echo rows ${size.rows} cols ${size.cols}; TERM=screen-256color ` +
      `exec tmux -u -T ${features} -N -L grid-ship attach -t =${session}: -f ignore-size,read-only`;
    const child = new Deno.Command("/usr/bin/script", {
      args: ["-qefc", attach, "/dev/null"],
      clearEnv: true,
      env: { ...server.environment, SHELL: "/bin/sh" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const tty = await listed(server, /^1 (\S+)$/m).catch((thrown) => {
      child.kill("SIGKILL");
      throw thrown;
    });
    return new Witness(server, child, tty, size);
  }

  /** The first difference between `grid` and what tmux draws when it draws everything, or null. */
  async difference(grid: Grid): Promise<string | null> {
    await this.#resize(grid);
    this.#poison();
    await this.server.tmux("refresh-client", "-t", this.tty);
    const drawn = new Cells(grid.cols, grid.rows);
    for (;;) {
      this.#emulator.read(drawn);
      const difference = gridDifference(grid, drawn);
      if (difference === null) return publicDifference(this.#emulator, drawn);
      if (!await this.#more()) return `a redraw: ${difference}`;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // At SIGTERM `script` gives what it runs two seconds; the hangup is enough for tmux.
    this.child.kill("SIGKILL");
    await this.#stdin.close().catch(() => {});
    await this.#reading;
    await this.child.status;
    this.#emulator[Symbol.dispose]();
  }

  async #resize({ cols, rows }: Grid): Promise<void> {
    if (cols === this.size.cols && rows === this.size.rows) return;
    this.size = { cols, rows };
    this.#emulator.resize(cols, rows);
    const { success } = await new Deno.Command("/usr/bin/stty", {
      args: ["-F", this.tty, "rows", String(rows), "cols", String(cols)],
    }).output();
    if (!success) throw new Error("the witness could not be resized");
  }

  /** Fills every cell with what no test writes, so that only a redraw can make it right. */
  #poison(): void {
    const { cols, rows } = this.size;
    const lines = Array.from(
      { length: rows },
      (_, y) => `\x1b[${y + 1};1H${"¿".repeat(cols)}`,
    );
    this.#emulator.write(
      encoder.encode(`\x1b7\x1b[m\x1b[31m${lines.join("")}\x1b8`),
    );
  }

  async #read(): Promise<void> {
    for await (const bytes of this.child.stdout) {
      this.#emulator.write(bytes);
      this.#woken?.();
    }
    this.#woken?.();
  }

  /** Waits for bytes; false when none came. */
  async #more(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), quietMs);
    this.#woken = () => resolve(true);
    const came = await promise;
    clearTimeout(timer);
    this.#woken = null;
    return came;
  }

  #reply(text: string): void {
    this.#stdin.write(encoder.encode(text)).catch(() => {});
  }
}

/** The first match in the list of clients, read-only ones marked by 1, as soon as there is one. */
async function listed(server: TmuxServer, form: RegExp): Promise<string> {
  for (let i = 0; i < 500; i++) {
    const found = form.exec(
      await server.tmux("list-clients", "-F", "#{client_readonly} #{client_tty}"),
    );
    if (found !== null) return found[1] ?? "";
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no client ${form}`);
}
