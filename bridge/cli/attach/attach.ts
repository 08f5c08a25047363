/**
 * `grid attach`: a session's screen in the user's terminal. The terminal and the way to a socket are
 * values, so that neither the process nor the network is this file's business.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { UserTerminal } from "../../../shared/host/user_terminal.ts";
import type { Socket } from "../../../shared/http/socket.ts";
import { limits } from "../../../shared/limits.ts";
import { Acks } from "../../../shared/terminal/acks.ts";
import { ScreenFollower } from "../../../shared/terminal/client.ts";
import { type ClientFrame, terminalClose } from "../../../shared/terminal/protocol.ts";
import { type Absence, mayPass } from "./absence.ts";
import { Display } from "./display.ts";
import { detachKey, UserInput } from "./user_input.ts";

export interface AttachOptions {
  readonly terminal: UserTerminal;
  /** Opens a new terminal socket, with a new ticket. */
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  /** Whether what `open` rejected with will not get better by trying again. */
  readonly isFatal: (thrown: unknown) => boolean;
  /** Why the workspace shows no screen. Rejects when nobody can say. */
  readonly absence: (signal: AbortSignal) => Promise<Absence>;
  readonly clock: Clock;
  /** The workspace, for the status line. */
  readonly name: string;
  readonly readOnly: boolean;
  /** Ends the attachment from outside. */
  readonly stop: AbortSignal;
}

/** How an attachment ended; a failure to connect that is final is thrown instead. */
export type AttachEnding =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "detached" }
  | { readonly kind: "stopped" }
  | { readonly kind: "refused"; readonly code: number; readonly reason: string };

/**
 * Shows the session until it ends, the user leaves, or the server says no. Until the first picture the
 * terminal is left alone, and whatever goes wrong is final; from then on a lost connection is tried
 * again. What is typed meanwhile is dropped: nobody wants a command run that was typed blind a minute
 * ago.
 */
export async function attach(options: AttachOptions): Promise<AttachEnding> {
  await using attachment = new ScreenAttachment(options);
  return await attachment.run();
}

/** Somebody sits and waits: shorter than between daemons. */
const retryMaxMs = 5_000;

/** What became of one connection. */
type Connected =
  | AttachEnding
  | { readonly kind: "absent" }
  | { readonly kind: "lost"; readonly code: number; readonly reason: string };

class ScreenAttachment implements AsyncDisposable {
  readonly #display: Display;
  readonly #input = new UserInput();
  readonly #left = Promise.withResolvers<AttachEnding>();
  readonly #abort = new AbortController();
  readonly #handlers = new DisposableStack();
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #reading: Promise<void> = Promise.resolve();
  #connecting: Promise<unknown> = Promise.resolve();
  #socket: Socket | null = null;
  /** The connection has shown its first picture: what is typed now reaches what is seen. */
  #live = false;
  #lostMs: number | null = null;
  #delayMs: number = limits.reconnectMinMs;

  constructor(private readonly options: AttachOptions) {
    const { terminal, clock, stop } = options;
    this.#display = new Display(terminal, clock);
    const stopped = () => this.#left.resolve({ kind: "stopped" });
    this.#handlers.use(terminal.onResize(() => this.#resized()));
    this.#handlers.use(terminal.onResume(() => this.#display.resumed()));
    this.#handlers.use(terminal.onHangup(stopped));
    stop.addEventListener("abort", stopped);
    this.#handlers.defer(() => stop.removeEventListener("abort", stopped));
    if (stop.aborted) stopped();
  }

  async run(): Promise<AttachEnding> {
    const connecting = this.#stayConnected();
    this.#connecting = connecting;
    return await Promise.race([this.#left.promise, connecting]);
  }

  /** Connects, again and again when the connection is lost, until there is an ending. */
  async #stayConnected(): Promise<AttachEnding> {
    for (;;) {
      const ended = await this.#connectOnce();
      if (this.#abort.signal.aborted) return { kind: "detached" };
      if (ended.kind === "absent") await this.#throwUnlessPassing();
      else if (ended.kind !== "lost") return ended;
      else if (!this.#display.taken) {
        return { kind: "refused", code: ended.code, reason: ended.reason };
      }
      await this.#waitShowing(this.#delayMs);
      if (this.#abort.signal.aborted) return { kind: "detached" };
      this.#delayMs = Math.min(this.#delayMs * 2, retryMaxMs);
    }
  }

  async #throwUnlessPassing(): Promise<void> {
    const absence = await this.options.absence(this.#abort.signal);
    const lostForMs = this.#lostMs === null
      ? null
      : this.options.clock.monotonicMs() - this.#lostMs;
    if (lostForMs === null || !mayPass(absence, lostForMs)) throw absence.failure;
  }

  async #connectOnce(): Promise<Connected> {
    let socket: Socket;
    try {
      socket = await this.options.open(this.#abort.signal);
    } catch (thrown) {
      if (!this.#display.taken || this.options.isFatal(thrown)) throw thrown;
      return { kind: "lost", code: 0, reason: "" };
    }
    if (this.#abort.signal.aborted) {
      socket.close(terminalClose.normal.code);
      return { kind: "detached" };
    }
    const connected = await this.#follow(socket);
    if (this.#live) this.#lostMs = this.options.clock.monotonicMs();
    this.#live = false;
    this.#socket = null;
    return connected;
  }

  #follow(socket: Socket): Promise<Connected> {
    const { promise, resolve } = Promise.withResolvers<Connected>();
    const follower = new ScreenFollower();
    const acks = new Acks({ clock: this.options.clock, send: (frame) => this.#send(frame) });
    this.#socket = socket;
    socket.onText((text) => {
      if (this.#abort.signal.aborted) return;
      const received = follower.receive(text);
      if (received.kind === "exit") {
        const absent = received.code === 1 && !this.#live;
        return resolve(absent ? { kind: "absent" } : { kind: "exit", code: received.code });
      }
      this.#display.notify(received.notices);
      if (received.kind === "screen") {
        this.#display.show(received.grid);
        this.#showsScreen();
      }
      acks.answer(received.send, text.length);
    });
    socket.onClose((code, reason) => {
      // A broken connection has no reason.
      const refused = code === 1008 || code === 1003 ||
        (code === terminalClose.failed.code && reason === terminalClose.failed.reason);
      resolve({ kind: refused ? "refused" : "lost", code, reason });
    });
    this.#send({ type: "init", ...this.#display.size });
    return promise.finally(() => acks[Symbol.dispose]());
  }

  #send(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #showsScreen(): void {
    if (this.#live) return;
    this.#live = true;
    this.#delayMs = limits.reconnectMinMs;
    if (this.#reader !== null) return;
    const what = this.options.readOnly ? "watching" : "attached to";
    this.#display.hint(`${what} ${this.options.name} · ${detachKey.name} leaves`);
    this.#reader = this.options.terminal.input.getReader();
    this.#reading = this.#read(this.#reader);
  }

  async #waitShowing(delayMs: number): Promise<void> {
    const seconds = Math.max(1, Math.round(delayMs / 1000));
    this.#display.say(
      `connection lost · trying again in ${seconds} s · keys are dropped · ` +
        `${detachKey.name} leaves · ${this.options.name}`,
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.options.clock.after(delayMs, resolve);
    this.#abort.signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
  }

  #resized(): void {
    this.#display.resized();
    this.#send({ type: "resize", ...this.#display.size });
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const bytes = await reader.read().then(({ value }) => value, () => undefined);
      if (bytes === undefined) return this.#left.resolve({ kind: "detached" });
      const typed = this.#input.take(bytes, this.#live && !this.options.readOnly);
      this.#display.endHint();
      for (const data of typed.pieces) this.#send({ type: "input", data });
      if (typed.detach) return this.#left.resolve({ kind: "detached" });
    }
  }

  /** Gives the terminal back before anything is waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    this.#handlers.dispose();
    this.#display[Symbol.dispose]();
    this.#socket?.close(terminalClose.normal.code, "");
    await this.#reader?.cancel().catch(() => {});
    await this.#reading;
    // Its failure, if any, was thrown by `run`.
    await this.#connecting.catch(() => {});
  }
}
