/** What the bench compares: ways to look at a tmux session from afar, with one face. */

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** One client that looks at a session of its own, in which bash runs with a prompt of one new letter a time. */
export interface Peer extends AsyncDisposable {
  type(text: string): void;
  /**
   * Settles with the time (`performance.now()`) at which `text` stands in what the client has got since the
   * last `forget`; rejects after `boundMs`.
   */
  shows(text: string, boundMs?: number): Promise<number>;
  /** Begins anew what `shows` looks at. */
  forget(): void;
  /** Settles when nothing has come for `quietMs`. */
  quiet(quietMs: number): Promise<void>;
  /** Runs tmux against the session's server. */
  tmux(...args: string[]): Promise<string>;
  /** The processes that serve this client, without tmux's server and what runs in the session. */
  serverPids(): Promise<number[]>;
}

export interface PeerKind {
  readonly name: string;
  /** A daemon that has been running for long, not one that is started for each session. */
  readonly ours: boolean;
  /** Why this peer is not measured here, or null when it can be. */
  missing(): Promise<string | null>;
  open(place: BenchPlace, size: Size): Promise<Peer>;
}

/** Where sessions run, for every peer the same. */
export interface BenchPlace {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
}

const boundDefaultMs = 20_000;

/** What a client has got, and who waits for what in it. */
export class Sight {
  #text = "";
  #arrivals = 0;
  #lastMs = performance.now();
  #waiting: { text: string; resolve: (atMs: number) => void } | null = null;

  /** `text` replaces what was there (a screen) or goes on after it (a stream of bytes). */
  see(text: string, how: "screen" | "stream"): void {
    this.#lastMs = performance.now();
    this.#arrivals++;
    this.#text = how === "screen" ? text : this.#text + text;
    if (this.#text.length > textMax) this.#text = this.#text.slice(-textKept);
    if (this.#waiting !== null && this.#text.includes(this.#waiting.text)) {
      this.#waiting.resolve(this.#lastMs);
      this.#waiting = null;
    }
  }

  /** What somebody waits for. */
  get wanted(): string | null {
    return this.#waiting?.text ?? null;
  }

  forget(): void {
    this.#text = "";
  }

  async shows(text: string, boundMs = boundDefaultMs): Promise<number> {
    if (this.#text.includes(text)) return performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#waiting = { text, resolve };
    const timer = setTimeout(() => {
      this.#waiting = null;
      reject(
        new Error(
          `not within ${boundMs} ms: ${text}; seen: ${JSON.stringify(this.#text.slice(-300))}`,
        ),
      );
    }, boundMs);
    return await promise.finally(() => clearTimeout(timer));
  }

  async quiet(quietMs: number): Promise<void> {
    for (let restMs = quietMs; restMs > 0;) {
      await new Promise((resolve) => setTimeout(resolve, restMs));
      restMs = this.#lastMs + quietMs - performance.now();
    }
  }
}

/** A stream is searched while it grows; what is older than this is no more of interest. */
const textMax = 256 * 1024;
const textKept = 16 * 1024;

/**
 * `.bash_profile` of the sessions: every prompt shows a Braille pattern that the 255 before it had not, so that the end of a
 * command is seen in any encoding of the screen.
 */
export const bashProfile = `
n=0
prompt() { n=$((n+1)); printf -v PS1 "\\\\U$(printf %x $((0x2800 + n % 256)))> "; }
PROMPT_COMMAND=prompt
set +o history
`;

/** What the \`count\`th prompt shows. */
export const promptText = (count: number) => `${String.fromCodePoint(0x2800 + count % 256)}>`;
