/**
 * When the next frame goes out. A state machine over a clock; what a frame holds is the business of
 * whoever `draw`s. Rules: at most two frames unacknowledged, a minimum interval between frames that
 * shrinks after input, five seconds without an ack give one snapshot, a resize waits for the redraw.
 */
import type { Clock } from "../../shared/clock.ts";
import { limits } from "../../shared/limits.ts";

/** One frame a display's refresh. */
const intervalMs = 16;
/** So long after input an echo may come, at the shorter interval. */
const echoWindowMs = 40;
const echoIntervalMs = 2;
/** What a timer cannot wait for is not waited for. */
const timerMs = 1;
/** A resize waits for the first output after it, this long for the rest of it, at most so long. */
const redrawSettleMs = 4;
const redrawMaxMs = 50;
/** The first picture waits for the client to start. */
const openingMaxMs = 500;
/** An update that should be seen whole is waited for so long. */
const updateMaxMs = 50;
/** With so much under way even the second frame waits: pipes on the way hold 256 KiB. */
const unackedCharactersMax = 64 * 1024;

export type FrameKind = "snapshot" | "patch";

/** A frame that was sent; `more` when the screen holds changes beyond it. */
export interface Sent {
  readonly seq: number;
  readonly characters: number;
  readonly more: boolean;
}

export interface PacerOptions {
  readonly clock: Clock;
  /** Draws and sends a frame; null when nothing has changed. */
  readonly draw: (kind: FrameKind) => Sent | null;
  /** True in the middle of an update that should be seen whole. */
  readonly updating: () => boolean;
}

export class Pacer implements Disposable {
  readonly #unacked: { readonly seq: number; readonly characters: number }[] = [];
  #newestSeq = 0;
  #snapshotWanted = true;
  #dirty = false;
  #lastSentMs = -Infinity;
  #inputMs = -Infinity;
  #updatingSinceMs: number | null = null;
  /** A picture that waits for tmux: not before `fromMs`, which output brings forward. */
  #hold: { fromMs: number; touched: boolean } | null;
  #timer: Disposable | null = null;
  #stall: Disposable | null = null;
  #disposed = false;

  constructor(private readonly options: PacerOptions) {
    this.#hold = { fromMs: this.#nowMs() + openingMaxMs, touched: false };
    this.#pump();
  }

  /** Whether a frame could go out now as far as acks are concerned. */
  get hasCredit(): boolean {
    const characters = this.#unacked.reduce((sum, frame) => sum + frame.characters, 0);
    return this.#unacked.length < limits.terminalUnackedFramesMax &&
      characters <= unackedCharactersMax;
  }

  /** The screen may have changed. */
  changed(): void {
    this.#dirty = true;
    const nowMs = this.#nowMs();
    if (this.#hold !== null && !this.#hold.touched) {
      this.#hold = { touched: true, fromMs: Math.min(this.#hold.fromMs, nowMs + redrawSettleMs) };
    }
    if (!this.options.updating()) this.#updatingSinceMs = null;
    else this.#updatingSinceMs ??= nowMs;
    this.#pump();
  }

  /** The user typed: what comes next is likely an echo. */
  typed(): void {
    this.#inputMs = this.#nowMs();
    this.#pump();
  }

  /** The size changed: the next frame is a snapshot and waits for tmux to redraw. */
  resized(): void {
    this.#snapshotWanted = true;
    this.#hold = { fromMs: this.#nowMs() + redrawMaxMs, touched: false };
    this.#pump();
  }

  /** The client asked for a snapshot. */
  resync(): void {
    this.#snapshotWanted = true;
    this.#pump();
  }

  /** The client has every frame up to `seq`. One that was never sent is no news. */
  acked(seq: number): void {
    if (seq > this.#newestSeq) return;
    let frame = this.#unacked[0];
    while (frame !== undefined && frame.seq <= seq) {
      this.#unacked.shift();
      frame = this.#unacked[0];
    }
    if (this.hasCredit) this.#endStall();
    this.#pump();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.[Symbol.dispose]();
    this.#endStall();
  }

  #nowMs(): number {
    return this.options.clock.monotonicMs();
  }

  #pump(): void {
    if (this.#disposed) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    if (!this.#dirty && !this.#snapshotWanted) return;
    if (!this.hasCredit) return;
    const waitMs = this.#waitMs();
    if (waitMs >= timerMs) this.#timer = this.options.clock.after(waitMs, () => this.#pump());
    else this.#send();
  }

  #waitMs(): number {
    const nowMs = this.#nowMs();
    if (this.#hold !== null) return this.#hold.fromMs - nowMs;
    const echo = nowMs - this.#inputMs <= echoWindowMs;
    let fromMs = this.#lastSentMs + (echo ? echoIntervalMs : intervalMs);
    if (this.#updatingSinceMs !== null) {
      fromMs = Math.max(fromMs, this.#updatingSinceMs + updateMaxMs);
    }
    return fromMs - nowMs;
  }

  #send(): void {
    const sent = this.options.draw(this.#snapshotWanted ? "snapshot" : "patch");
    this.#snapshotWanted = false;
    this.#hold = null;
    this.#dirty = sent?.more ?? false;
    if (sent === null || this.#disposed) return;
    this.#lastSentMs = this.#nowMs();
    this.#newestSeq = sent.seq;
    this.#unacked.push({ seq: sent.seq, characters: sent.characters });
    if (!this.hasCredit) this.#beginStall();
    this.#pump();
  }

  #beginStall(): void {
    this.#endStall();
    this.#stall = this.options.clock.after(limits.terminalStallMs, () => {
      this.#stall = null;
      // The frames under way are given up; the whole picture makes up for them.
      this.#unacked.length = 0;
      this.#snapshotWanted = true;
      this.#pump();
    });
  }

  #endStall(): void {
    this.#stall?.[Symbol.dispose]();
    this.#stall = null;
  }
}
