/**
 * `grid attach`: a session's screen in the user's terminal. The terminal and the way to a socket are
 * values, so that neither the process nor the network is this file's business.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Socket } from "../../../shared/http/socket.ts";
import { limits } from "../../../shared/limits.ts";
import { AnsiPainter } from "../../../shared/terminal/ansi.ts";
import { ScreenFollower } from "../../../shared/terminal/client.ts";
import { type ClientFrame, terminalClose } from "../../../shared/terminal/protocol.ts";
import { detachKey, UserInput } from "./user_input.ts";

/** The terminal that the user sits at. */
export interface UserTerminal {
  size(): { readonly cols: number; readonly rows: number };
  write(text: string): void;
  /** Keys one by one and unechoed, or lines again. */
  setRaw(raw: boolean): void;
  /** Bytes as they are typed; ends when the terminal does. Cancelled when the attachment ends. */
  readonly input: ReadableStream<Uint8Array>;
  onResize(handler: () => void): Disposable;
}

export interface AttachOptions {
  readonly terminal: UserTerminal;
  /** Opens a new terminal socket, with a new ticket. Rejecting with `fatal` true ends the attempts. */
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  /** Whether what `open` rejected with will not get better by trying again. */
  readonly isFatal: (thrown: unknown) => boolean;
  readonly clock: Clock;
  /** The workspace, for the status line. */
  readonly name: string;
  readonly readOnly: boolean;
}

/** How an attachment ended; a fatal failure to connect is thrown instead. */
export type AttachEnding =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "detached" }
  | { readonly kind: "refused"; readonly code: number; readonly reason: string };

const hintMs = 3_000;
/** So long after a lost connection the ship may still think that the old one is there. */
const guardHeldMs = 60_000;
const enterScreen = "\x1b[22;0t\x1b[?1049h";
const leaveScreen = "\x1b[?1049l\x1b[23;0t";

/** Shows the session until it ends, the user leaves, or the server says no. */
export async function attach(options: AttachOptions): Promise<AttachEnding> {
  const attachment = new ScreenAttachment(options);
  const { terminal } = options;
  terminal.setRaw(true);
  terminal.write(enterScreen);
  try {
    return await attachment.run();
  } finally {
    await attachment[Symbol.asyncDispose]();
    terminal.write(attachment.leaveText() + leaveScreen);
    terminal.setRaw(false);
  }
}

/** What became of one connection. */
type Connected = AttachEnding | { readonly kind: "lost"; readonly sawScreen: boolean };

class ScreenAttachment implements AsyncDisposable {
  readonly #painter = new AnsiPainter();
  readonly #input = new UserInput();
  readonly #detached = Promise.withResolvers<AttachEnding>();
  readonly #abort = new AbortController();
  readonly #resizes: Disposable;
  readonly #reading: Promise<void>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #connecting: Promise<unknown> = Promise.resolve();
  #socket: Socket | null = null;
  #follower = new ScreenFollower();
  #hint: Disposable | null = null;
  #hintShown = false;
  #status: string | null = null;

  constructor(private readonly options: AttachOptions) {
    this.#resizes = options.terminal.onResize(() => this.#resized());
    this.#reader = options.terminal.input.getReader();
    this.#reading = this.#read();
  }

  /** Connects, again and again when the connection is lost, until there is an ending. */
  async run(): Promise<AttachEnding> {
    const connecting = this.#stayConnected();
    this.#connecting = connecting;
    return await Promise.race([this.#detached.promise, connecting]);
  }

  leaveText(): string {
    return this.#painter.leave();
  }

  async #stayConnected(): Promise<AttachEnding> {
    const { clock } = this.options;
    let delayMs = limits.reconnectMinMs as number;
    let lostMs: number | null = null;
    for (;;) {
      const ended = await this.#connectOnce();
      if (this.#abort.signal.aborted) return { kind: "detached" };
      if (ended.kind === "lost") {
        if (ended.sawScreen) delayMs = limits.reconnectMinMs;
        lostMs ??= clock.monotonicMs();
        if (ended.sawScreen) lostMs = clock.monotonicMs();
      } else {
        const guardMayBeOurs = ended.kind === "exit" && ended.code === 1 && lostMs !== null &&
          this.#follower.grid === null && clock.monotonicMs() - lostMs < guardHeldMs;
        if (!guardMayBeOurs) return ended;
      }
      await this.#waitShowing(delayMs);
      if (this.#abort.signal.aborted) return { kind: "detached" };
      delayMs = Math.min(delayMs * 2, limits.reconnectMaxMs);
    }
  }

  async #connectOnce(): Promise<Connected> {
    this.#follower = new ScreenFollower();
    let socket: Socket;
    try {
      socket = await this.options.open(this.#abort.signal);
    } catch (thrown) {
      if (this.options.isFatal(thrown)) throw thrown;
      return { kind: "lost", sawScreen: false };
    }
    if (this.#abort.signal.aborted) {
      socket.close(terminalClose.normal.code);
      return { kind: "detached" };
    }
    return await this.#follow(socket);
  }

  #follow(socket: Socket): Promise<Connected> {
    const { promise, resolve } = Promise.withResolvers<Connected>();
    let sawScreen = false;
    this.#socket = socket;
    socket.onText((text) => {
      const received = this.#follower.receive(text);
      if (received.kind === "exit") return resolve({ kind: "exit", code: received.code });
      if (received.kind === "screen") {
        if (this.#abort.signal.aborted) return;
        sawScreen = true;
        this.#connected();
        this.#paint();
      }
      for (const frame of received.send) this.#send(frame);
    });
    socket.onClose((code, reason) => {
      this.#socket = null;
      resolve(
        code === 1008 || code === 1003
          ? { kind: "refused", code, reason }
          : { kind: "lost", sawScreen },
      );
    });
    this.#send({ type: "init", ...bounded(this.options.terminal.size()) });
    return promise;
  }

  #send(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #connected(): void {
    if (this.#status !== null) {
      this.#status = null;
      this.#painter.forget();
    }
    if (this.#hintShown) return;
    this.#hintShown = true;
    const what = this.options.readOnly ? "watching" : "attached to";
    this.#status = `${what} ${this.options.name} · ${detachKey.name} leaves`;
    this.#hint = this.options.clock.after(hintMs, () => this.#endHint());
  }

  #endHint(): void {
    if (this.#hint === null) return;
    this.#hint[Symbol.dispose]();
    this.#hint = null;
    this.#status = null;
    this.#painter.forget();
    this.#paint();
  }

  #paint(): void {
    const { grid } = this.#follower;
    const size = bounded(this.options.terminal.size());
    // Between a resize and its snapshot the picture does not fit.
    if (grid !== null && grid.cols === size.cols && grid.rows === size.rows) {
      this.options.terminal.write(this.#painter.paint(grid));
    }
    this.#paintStatus();
  }

  /** Over the last row; taken away by a whole repaint. */
  #paintStatus(): void {
    if (this.#status === null) return;
    const { cols, rows } = this.options.terminal.size();
    const text = ` ${this.#status} `.slice(0, cols);
    this.options.terminal.write(`\x1b7\x1b[${rows};1H\x1b[0;7m${text}\x1b[m\x1b8`);
  }

  async #waitShowing(delayMs: number): Promise<void> {
    const seconds = Math.max(1, Math.round(delayMs / 1000));
    this.#hint?.[Symbol.dispose]();
    this.#hint = null;
    this.#status =
      `connection to ${this.options.name} lost · trying again in ${seconds} s · ${detachKey.name} leaves`;
    this.#paintStatus();
    await new Promise<void>((resolve) => {
      const timer = this.options.clock.after(delayMs, resolve);
      this.#abort.signal.addEventListener("abort", () => {
        timer[Symbol.dispose]();
        resolve();
      }, { once: true });
    });
  }

  #resized(): void {
    this.#painter.forget();
    this.options.terminal.write("\x1b[2J");
    this.#send({ type: "resize", ...bounded(this.options.terminal.size()) });
    this.#paintStatus();
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read().catch(() => ({
        done: true,
        value: undefined,
      }));
      if (done || value === undefined) return this.#detached.resolve({ kind: "detached" });
      const typed = this.#input.take(value);
      if (typed.pieces.length > 0) this.#endHint();
      if (!this.options.readOnly) {
        for (const data of typed.pieces) this.#send({ type: "input", data });
      }
      if (typed.detach) return this.#detached.resolve({ kind: "detached" });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    this.#hint?.[Symbol.dispose]();
    this.#resizes[Symbol.dispose]();
    this.#socket?.close(terminalClose.normal.code, "");
    await this.#reader.cancel().catch(() => {});
    await this.#reading;
    // Its failure, if any, was thrown by `run`.
    await this.#connecting.catch(() => {});
  }
}

/** A size that the protocol allows: a larger terminal shows the session in its corner. */
function bounded(size: { readonly cols: number; readonly rows: number }) {
  return {
    cols: Math.max(1, Math.min(size.cols, limits.terminalColsMax)),
    rows: Math.max(1, Math.min(size.rows, limits.terminalRowsMax)),
  };
}
