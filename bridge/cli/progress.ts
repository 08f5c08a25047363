/** The progress of a clone, drawn over one line of a terminal's standard error. */
import { displayText } from "../../shared/ids.ts";
import type { CloneProgress } from "../../shared/schema/workspace.ts";
import { cutTo } from "./display_width.ts";
import { count } from "./output.ts";

const barColumns = 24;
/** Erase the line and return to its start (ECMA-48 EL 2). */
const eraseLine = "\r\x1b[2K";

/** One step as text: a bar where git knows the whole, figures where it does not. */
export function progressLine({ phase, percent, done, total }: CloneProgress): string {
  const name = displayText(phase);
  if (percent === null) return `${name} ${count(done, "object")}`;
  const share = Math.min(100, Math.max(0, percent));
  const filled = Math.round(barColumns * share / 100);
  const bar = "█".repeat(filled) + "░".repeat(barColumns - filled);
  const amount = total === null ? "" : ` ${done}/${total}`;
  return `${name} ${bar} ${String(Math.round(share)).padStart(3)} %${amount}`;
}

/** Draws while in scope; disposing erases the line, so that what follows stands where it stood. */
export class ProgressLine implements Disposable {
  #drawn = "";

  constructor(
    private readonly write: (text: string) => void,
    private readonly columns: number,
  ) {}

  show(progress: CloneProgress): void {
    const line = cutTo(progressLine(progress), Math.max(10, this.columns - 1));
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.write(eraseLine + line);
  }

  [Symbol.dispose](): void {
    if (this.#drawn !== "") this.write(eraseLine);
    this.#drawn = "";
  }
}
