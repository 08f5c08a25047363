/** One client's connection to one session: protocol messages in, frames out, and an end for both. */
import type { Clock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import { messageOf } from "../../shared/errors.ts";
import {
  type ClientFrame,
  decodeClientFrame,
  terminalClose,
} from "../../shared/terminal/protocol.ts";
import { Attachment, type TerminalHost } from "./attach.ts";
import { FloodWatch } from "./flood.ts";
import { Pacer, type Sent } from "./pacer.ts";
import { Screen, type Size } from "./screen.ts";
import type { SessionAddress } from "./tmux_client.ts";

export interface ViewerOptions {
  readonly host: TerminalHost;
  readonly address: SessionAddress;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once, when the connection is as good as over; what it used is given back after that. */
  readonly onEnding: () => void;
}

type Ending = (typeof terminalClose)[keyof typeof terminalClose];

/** Serves `socket` until either side ends; settles when every child of it is gone. Never rejects. */
export async function view(socket: Socket, options: ViewerOptions): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const connection: Connection = {
    socket,
    over,
    end({ code, reason }) {
      options.onEnding();
      resolve();
      socket.close(code, reason);
    },
  };
  socket.onClose(() => {
    options.onEnding();
    resolve();
  });
  socket.onBinary(() => connection.end(terminalClose.binary));
  const opening = await opened(connection, options.clock);
  if (opening === null) return;
  const viewer = new Viewer(connection, options, opening);
  try {
    await viewer.run();
  } catch (thrown) {
    const session = options.address.sessionName;
    options.log.error("terminal failed", { session, why: messageOf(thrown) });
    connection.end(terminalClose.failed);
  } finally {
    await viewer[Symbol.asyncDispose]();
  }
}

/** A socket and its end, whoever brings it about. */
interface Connection {
  readonly socket: Socket;
  /** Settles when either side has ended it. */
  readonly over: Promise<void>;
  end(ending: Ending): void;
}

/** The `init` that must come first, and what came between it and the viewer's own handlers. */
interface Opening {
  readonly size: Size;
  readonly held: readonly string[];
}

/** Waits for `init`; null when the connection ended instead. */
async function opened({ socket, over, end }: Connection, clock: Clock): Promise<Opening | null> {
  const { promise, resolve } = Promise.withResolvers<Opening>();
  using _timeout = clock.after(limits.terminalInitMs, () => end(terminalClose.initTimeout));
  socket.onText((text) => {
    const frame = decodeClientFrame(text);
    if (frame?.type !== "init") return end(terminalClose.invalid);
    const held: string[] = [];
    socket.onText((later) => held.push(later));
    resolve({ size: { cols: frame.cols, rows: frame.rows }, held });
  });
  return await Promise.race([promise, over.then(() => null)]);
}

class Viewer implements AsyncDisposable {
  readonly #screen: Screen;
  readonly #pacer: Pacer;
  readonly #flood: FloodWatch;
  #attachment: Attachment | null = null;
  /** Input and the newest size that came while the client was starting. */
  #earlyInput: string[] = [];
  #size: Size;
  #ended = false;
  #reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly connection: Connection,
    private readonly options: ViewerOptions,
    opening: Opening,
  ) {
    const { clock } = options;
    this.#size = opening.size;
    this.#screen = new Screen(opening.size, (reply) => this.#input(reply));
    this.#pacer = new Pacer({
      clock,
      draw: (kind) => this.#draw(kind),
      updating: () => this.#screen.updating,
    });
    this.#flood = new FloodWatch({
      clock,
      redraw: () => this.#attachment?.redraw(),
      hasCredit: () => this.#pacer.hasCredit,
    });
    connection.over.then(() => this.#ended = true);
    connection.socket.onText((text) => this.#receive(text));
    for (const text of opening.held) this.#receive(text);
  }

  async run(): Promise<void> {
    const { host, address } = this.options;
    const opened = this.#size;
    this.#attachment = await Attachment.open(host, address, opened);
    if (this.#attachment === null) return this.#exit(1);
    for (const text of this.#earlyInput.splice(0)) this.#input(text);
    if (this.#size !== opened) this.#resize(this.#size);
    this.#reading = this.#readAll(this.#attachment);
    await Promise.race([this.#reading, this.connection.over]);
    if (!this.#ended) this.#exit(await this.#attachment.exitCode);
  }

  async #readAll(attachment: Attachment): Promise<void> {
    for (;;) {
      const bytes = await attachment.read();
      if (bytes === null || this.#ended) return;
      this.#flood.read();
      await this.#screen.feed(bytes, () => this.#pacer.changed());
      if (this.#screen.takeStrayed()) this.#flood.strayed();
    }
  }

  #receive(text: string): void {
    if (this.#ended) return;
    const frame = decodeClientFrame(text);
    if (frame === null) this.#end(terminalClose.invalid);
    else this.#obey(frame);
  }

  #obey(frame: ClientFrame): void {
    switch (frame.type) {
      case "init":
        return this.#end(terminalClose.invalid);
      case "input":
        this.#pacer.typed();
        this.#flood.typed();
        return this.#input(frame.data);
      case "resize":
        return this.#resize({ cols: frame.cols, rows: frame.rows });
      case "ack":
        return this.#pacer.acked(frame.seq);
      case "resync":
        return this.#pacer.resync();
    }
  }

  #input(text: string): void {
    if (this.#attachment === null) this.#earlyInput.push(text);
    else if (!this.#attachment.write(text)) return this.#end(terminalClose.overflow);
    const early = this.#earlyInput.reduce((sum, piece) => sum + piece.length, 0);
    if (early > earlyInputCharactersMax) this.#end(terminalClose.overflow);
  }

  #resize(size: Size): void {
    this.#size = size;
    this.#screen.resize(size);
    this.#pacer.resized();
    // The wait for the redraw begins when the PTY has its new size.
    this.#attachment?.resize(size).then(() => {
      if (!this.#ended && this.#size === size) this.#pacer.resized();
    });
  }

  #draw(kind: "snapshot" | "patch"): Sent | null {
    // Without acks a snapshot goes out every five seconds: a client that never reads must not collect them.
    if (this.connection.socket.bufferedBytes > limits.socketPendingBytesMax) {
      this.#end(terminalClose.overflow);
      return null;
    }
    const drawn = this.#screen.draw(kind);
    if (drawn === null) return null;
    this.connection.socket.send(drawn.text);
    return { seq: drawn.seq, characters: drawn.text.length, more: drawn.more };
  }

  #exit(code: number): void {
    // A text copied by the last command is worth a frame, when the client has room for one.
    const last = this.#pacer.hasCredit ? this.#screen.lastWords() : null;
    if (last !== null) this.connection.socket.send(last.text);
    this.connection.socket.send(JSON.stringify({ type: "exit", code }));
    this.#end(terminalClose.normal);
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    this.#ended = true;
    this.connection.end(ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    this.#pacer[Symbol.dispose]();
    this.#flood[Symbol.dispose]();
    await this.#attachment?.[Symbol.asyncDispose]();
    await this.#reading;
    this.#screen[Symbol.dispose]();
  }
}

/** As much as one paste of the largest size, four times. */
const earlyInputCharactersMax = 4 * limits.terminalInputBytesMax;
