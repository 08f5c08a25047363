/** The terminal that the user of this process sits at. */
import { writeOutput } from "./console.ts";
import { onResize } from "./lifecycle.ts";

export interface ProcessTerminal {
  size(): { readonly cols: number; readonly rows: number };
  write(text: string): void;
  /** Keys one by one and unechoed, or lines again. */
  setRaw(raw: boolean): void;
  readonly input: ReadableStream<Uint8Array>;
  onResize(handler: () => void): Disposable;
}

/** Null when standard input or output is no terminal. */
export function processTerminal(): ProcessTerminal | null {
  if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal()) return null;
  return {
    size() {
      const { columns, rows } = Deno.consoleSize();
      return { cols: columns, rows };
    },
    write: (text) => void writeOutput(text),
    setRaw: (raw) => Deno.stdin.setRaw(raw),
    input: Deno.stdin.readable,
    onResize,
  };
}
