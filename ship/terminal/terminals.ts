/** Every open terminal of a ship: one per session, and an end for all of them. */
import type { Clock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import type { Log } from "../../shared/log.ts";
import { terminalClose } from "../../shared/terminal/protocol.ts";
import type { TerminalHost } from "./attach.ts";
import { view } from "./viewer.ts";

export interface TerminalsOptions {
  readonly host: TerminalHost;
  /** tmux's `-L`. */
  readonly socketName: string;
  readonly tmuxPath: string;
  readonly scriptPath: string;
  readonly clock: Clock;
  readonly log: Log;
}

const goingAway = 1001;

/** The guards of a ship's terminals. Disposing ends every terminal with 1001; the sessions live on. */
export class Terminals implements AsyncDisposable {
  readonly #guards = new Map<string, Socket>();
  readonly #views = new Set<Promise<void>>();

  #closing = false;

  constructor(private readonly options: TerminalsOptions) {}

  /** Terminals that somebody looks at now. */
  get open(): number {
    return this.#guards.size;
  }

  /**
   * Speaks the terminal protocol on `socket`, from now until it closes, for the session of that name
   * (`ws-<sha256>`). While another socket has the session, or when there is none, says `exit` 1 and
   * closes.
   */
  serve(socket: Socket, sessionName: string): void {
    if (this.#closing) return socket.close(goingAway, "");
    if (this.#guards.has(sessionName)) {
      socket.send(JSON.stringify({ type: "exit", code: 1 }));
      return socket.close(terminalClose.normal.code, terminalClose.normal.reason);
    }
    this.#guards.set(sessionName, socket);
    const release = () => {
      if (this.#guards.get(sessionName) === socket) this.#guards.delete(sessionName);
    };
    const { host, socketName, tmuxPath, scriptPath, clock, log } = this.options;
    const address = { sessionName, socketName, tmuxPath, scriptPath };
    const viewing = view(socket, { host, address, clock, log, onEnding: release })
      .finally(() => this.#views.delete(viewing));
    this.#views.add(viewing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    for (const socket of this.#guards.values()) socket.close(goingAway, "");
    await Promise.all(this.#views);
  }
}
