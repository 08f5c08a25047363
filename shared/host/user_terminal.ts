/** The terminal that a user sits at, and that of this process. */
import { writeOutput } from "./console.ts";
import { onHangup, onResize, onResume } from "./lifecycle.ts";

export interface UserTerminal {
  /** 0 where the terminal does not know it. */
  size(): { readonly cols: number; readonly rows: number };
  write(text: string): void;
  /** Keys one by one and unechoed, or lines again. */
  setRaw(raw: boolean): void;
  /** Bytes as they are typed; ends when the terminal does. Cancelled when the attachment ends. */
  readonly input: ReadableStream<Uint8Array>;
  onResize(handler: () => void): Disposable;
  /** The process was stopped and goes on: others have used the terminal meanwhile. */
  onResume(handler: () => void): Disposable;
  /** The terminal is gone, or somebody wants us to believe it. */
  onHangup(handler: () => void): Disposable;
}

/** What is asked of a terminal that is gone (its window was closed) has no answer, and needs none. */
function whileItLasts<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Null when standard input or output is no terminal. */
export function processTerminal(): UserTerminal | null {
  if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal()) return null;
  return {
    size() {
      const size = whileItLasts(() => Deno.consoleSize());
      return { cols: size?.columns ?? 0, rows: size?.rows ?? 0 };
    },
    write: (text) => void whileItLasts(() => writeOutput(text)),
    setRaw: (raw) => void whileItLasts(() => Deno.stdin.setRaw(raw)),
    get input() {
      return Deno.stdin.readable;
    },
    onResize,
    onResume,
    onHangup,
  };
}
