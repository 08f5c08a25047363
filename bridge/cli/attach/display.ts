/** The user's terminal while it shows a session: the picture, and a line of our own over its last row. */
import type { Clock } from "../../../shared/clock.ts";
import type { UserTerminal } from "../../../shared/host/user_terminal.ts";
import { limits } from "../../../shared/limits.ts";
import { AnsiPainter } from "../../../shared/terminal/ansi.ts";
import type { Grid } from "../../../shared/terminal/grid.ts";
import { noticeBytes, type Notices } from "../../../shared/terminal/notices.ts";

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

const hintMs = 3_000;
const enterScreen = "\x1b[22;0t\x1b[?1049h";
const leaveScreen = "\x1b[?1049l\x1b[23;0t";
/** What a terminal that does not know its size most likely has; tmux and ssh assume the same. */
const sizeUnknown: Size = { cols: 80, rows: 24 };

/** Takes the terminal at the first picture and not before; disposing gives it back as it was. */
export class Display implements Disposable {
  readonly #painter = new AnsiPainter();
  #grid: Grid | null = null;
  #line: string | null = null;
  #hint: Disposable | null = null;
  #taken = false;
  #ended = false;

  constructor(private readonly terminal: UserTerminal, private readonly clock: Clock) {}

  /** Whether a picture was ever shown. */
  get taken(): boolean {
    return this.#taken;
  }

  /** The size that the session shall have: one that the protocol allows, the terminal's if it can be. */
  get size(): Size {
    const { cols, rows } = this.terminal.size();
    return {
      cols: Math.min(cols > 0 ? cols : sizeUnknown.cols, limits.terminalColsMax),
      rows: Math.min(rows > 0 ? rows : sizeUnknown.rows, limits.terminalRowsMax),
    };
  }

  /** Shows `grid`, which may change afterwards. A line that was not a hint has had its time. */
  show(grid: Grid): void {
    if (this.#ended) return;
    this.#take();
    this.#grid = grid;
    if (this.#hint === null) this.#endLine();
    this.#paint();
  }

  notify(notices: Notices): void {
    if (!this.#ended) this.terminal.write(noticeBytes(notices));
  }

  /** Puts `text` over the last row until the next picture. */
  say(text: string): void {
    if (this.#ended || !this.#taken) return;
    this.#stopHint();
    this.#line = text;
    this.#grid = null;
    this.#paintLine();
  }

  /** Puts `text` over the last row for a few seconds, or until `endHint`. */
  hint(text: string): void {
    if (this.#ended) return;
    this.#line = text;
    this.#hint = this.clock.after(hintMs, () => this.endHint());
    this.#paintLine();
  }

  endHint(): void {
    if (this.#hint === null) return;
    this.#stopHint();
    this.#endLine();
    this.#paint();
  }

  /** Others have used the terminal: takes it again. */
  resumed(): void {
    if (this.#ended || !this.#taken) return;
    this.terminal.setRaw(true);
    this.terminal.write(enterScreen);
    this.resized();
  }

  /** The terminal has another size. */
  resized(): void {
    if (this.#ended || !this.#taken) return;
    this.#painter.forget();
    this.terminal.write("\x1b[m\x1b[2J");
    this.#paint();
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopHint();
    if (!this.#taken) return;
    this.terminal.write(this.#painter.leave() + leaveScreen);
    this.terminal.setRaw(false);
  }

  #take(): void {
    if (this.#taken) return;
    this.#taken = true;
    this.terminal.setRaw(true);
    this.terminal.write(enterScreen);
  }

  #stopHint(): void {
    this.#hint?.[Symbol.dispose]();
    this.#hint = null;
  }

  /** The line goes with the whole repaint that is next. */
  #endLine(): void {
    if (this.#line !== null) this.#painter.forget();
    this.#line = null;
  }

  #paint(): void {
    const size = this.size;
    // Between a resize and its snapshot the picture does not fit.
    if (this.#grid !== null && this.#grid.cols === size.cols && this.#grid.rows === size.rows) {
      this.terminal.write(this.#painter.paint(this.#grid));
    }
    this.#paintLine();
  }

  #paintLine(): void {
    if (this.#line === null) return;
    const { cols, rows } = this.size;
    const text = ` ${this.#line} `.slice(0, cols);
    this.terminal.write(`\x1b7\x1b[${rows};1H\x1b[0;7m${text}\x1b[m\x1b8`);
  }
}
