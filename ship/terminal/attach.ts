/** A tmux client under a PTY, as streams: the session's bytes out, keystrokes in, sizes. */
import type { CommandLane, Conversation } from "../../shared/host/command.ts";
import type { Size } from "./screen.ts";
import {
  assertAddress,
  attachArguments,
  exitCodeOf,
  prepareArguments,
  resizeArguments,
  type SessionAddress,
  sideClientArguments,
  ttyOf,
} from "./tmux_client.ts";

/** Runs `sh`, `tmux` and `stty`; two programs for every terminal that is open. */
export interface TerminalHost {
  readonly lane: CommandLane;
}

const prepareMs = 5_000;
const resizeMs = 5_000;
/** Standard error holds the PTY's name, later the exit code. */
const stderrCharactersMax = 4096;
/** Input that the session has not taken yet. */
const inputPendingBytesMax = 8 * 1024 * 1024;
/** How long an end may take before it is forced. */
const politeMs = 500;

const encoder = new TextEncoder();

/** One client attached to one session. */
export class Attachment implements AsyncDisposable {
  /** Settles when the client is gone: the shell's exit code when it exited, 0 after a detach, else 1. */
  readonly exitCode: Promise<number>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  #tty: string | null = null;
  /** Bytes written but not taken; those before the PTY is raw wait in `#early`. */
  #pendingBytes = 0;
  #early: Uint8Array<ArrayBuffer>[] = [];
  #wantedSize: Size | null = null;
  #resizing: Promise<void> = Promise.resolve();
  #side: SideClient | null = null;
  #closed = false;

  private constructor(
    private readonly host: TerminalHost,
    private readonly address: SessionAddress,
    private readonly client: Conversation,
  ) {
    this.#reader = client.stdout.getReader();
    this.#writer = client.stdin.getWriter();
    this.#writer.closed.catch(() => {});
    this.exitCode = client.done.then((done) => exitCodeOf(done.stderr));
  }

  /** Attaches; null when there is no such session. Throws when a program cannot be started. */
  static async open(
    host: TerminalHost,
    address: SessionAddress,
    size: Size,
  ): Promise<Attachment | null> {
    assertAddress(address);
    const prepared = await host.lane.run("tmux", prepareArguments(address), {
      timeoutMs: prepareMs,
    });
    if (prepared.code !== 0) return null;
    let attachment: Attachment | null = null;
    let stderr = "";
    const client = await host.lane.converse("sh", attachArguments(address, size), {
      env: { TERM: "xterm-256color", SHELL: "/bin/sh" },
      onStderr(text) {
        stderr = (stderr + text).slice(-stderrCharactersMax);
        attachment?.namePty(stderr);
      },
    });
    attachment = new Attachment(host, address, client);
    attachment.namePty(stderr);
    return attachment;
  }

  /** Learns the PTY's name from what came on standard error; now it is raw and may be written to. */
  private namePty(stderr: string): void {
    if (this.#tty !== null || this.#closed) return;
    this.#tty = ttyOf(stderr);
    if (this.#tty === null) return;
    for (const bytes of this.#early.splice(0)) this.#send(bytes);
    this.#applySize();
  }

  /** The next bytes for the emulator; null when the client is gone. */
  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.#reader.read();
    return done ? null : value;
  }

  /** Queues input, byte for byte; false when more waits than anybody could have typed or pasted. */
  write(text: string): boolean {
    if (this.#closed || text === "") return true;
    const bytes = encoder.encode(text);
    if (this.#pendingBytes + bytes.length > inputPendingBytesMax) return false;
    this.#pendingBytes += bytes.length;
    if (this.#tty === null) this.#early.push(bytes);
    else this.#send(bytes);
    return true;
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    // A failed write means that the client is gone, which `read` tells.
    this.#writer.write(bytes).catch(() => {}).finally(() => this.#pendingBytes -= bytes.length);
  }

  /** Gives the PTY a new size; of many asked for at once the last one counts. Settles when it has it. */
  resize(size: Size): Promise<void> {
    this.#wantedSize = size;
    return this.#tty === null ? Promise.resolve() : this.#applySize();
  }

  #applySize(): Promise<void> {
    this.#resizing = this.#resizing.then(async () => {
      const size = this.#wantedSize;
      if (size === null || this.#tty === null || this.#closed) return;
      this.#wantedSize = null;
      await this.host.lane.run("stty", resizeArguments(this.#tty, size), { timeoutMs: resizeMs })
        .catch(() => {});
    });
    return this.#resizing;
  }

  /**
   * Asks tmux to redraw now. While output pours in, tmux redraws a client only every 100 ms. The client
   * that asks is started at the first call.
   */
  redraw(): void {
    if (this.#closed || this.#tty === null) return;
    this.#side ??= new SideClient(
      this.host.lane.converse("sh", sideClientArguments(this.address), {
        env: { TERM: "dumb" },
      }),
    );
    this.#side.say(`refresh-client -t ${this.#tty}\n`);
  }

  /** Detaches: the client and the side client are gone when this settles. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#early = [];
    const side = this.#side?.end();
    const forced = setTimeout(() => this.client.stop(), politeMs);
    // Waits for a write under way, which may wait for a client that is stuck: nobody waits for it here.
    this.#writer.abort().catch(() => {});
    await this.#reader.cancel().catch(() => {});
    await this.client.done;
    clearTimeout(forced);
    await this.#resizing;
    await side;
  }
}

/** The silent control-mode client. It ends with its standard input, so it cannot outlive this process. */
class SideClient {
  #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> | null = null;
  #saying = false;
  /** The newest command that came while it could not be said. */
  #next: string | null = null;
  readonly #client: Promise<Conversation | null>;
  readonly #reading: Promise<void>;

  constructor(starting: Promise<Conversation>) {
    this.#client = starting.catch(() => null);
    this.#reading = this.#client.then(async (client) => {
      if (client === null) return;
      this.#writer = client.stdin.getWriter();
      this.#writer.closed.catch(() => {});
      this.#sayNext();
      for await (const _ of client.stdout);
      this.#writer = null;
    });
  }

  /** Says one command, when the one before has been taken; of those that wait only the newest. */
  say(command: string): void {
    this.#next = command;
    this.#sayNext();
  }

  #sayNext(): void {
    if (this.#writer === null || this.#saying || this.#next === null) return;
    this.#saying = true;
    const bytes = encoder.encode(this.#next);
    this.#next = null;
    this.#writer.write(bytes).then(() => {
      this.#saying = false;
      this.#sayNext();
    }, () => {});
  }

  async end(): Promise<void> {
    const client = await this.#client;
    this.#writer?.abort().catch(() => {});
    client?.stop();
    await this.#reading;
    await client?.done;
  }
}
