/** The three standard streams as the command line sees them; only `lifecycle.ts` ends the process. */
import { decodeSecret, secretBytesMax, SecretLine, tooLong } from "./secret_line.ts";

/** What stands at the three ends of this process. */
export interface ConsoleFacts {
  readonly inputIsTerminal: boolean;
  readonly outputIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  /** Width of the terminal in columns; 80 when there is none. */
  readonly columns: number;
}

const columnsDefault = 80;

export function consoleFacts(): ConsoleFacts {
  return {
    inputIsTerminal: Deno.stdin.isTerminal(),
    outputIsTerminal: Deno.stdout.isTerminal(),
    errorIsTerminal: Deno.stderr.isTerminal(),
    columns: columns(),
  };
}

function columns(): number {
  try {
    return Deno.consoleSize().columns || columnsDefault;
  } catch {
    // No terminal at any end.
    return columnsDefault;
  }
}

/** Writes `text` as it is to standard output; false when its reader has gone (`grid ls | head`). */
export function writeOutput(text: string): boolean {
  return writeAll(Deno.stdout, text);
}

/** Writes `text` as it is to standard error; false when its reader has gone. */
export function writeError(text: string): boolean {
  return writeAll(Deno.stderr, text);
}

function writeAll(target: { writeSync(bytes: Uint8Array): number }, text: string): boolean {
  let bytes = new TextEncoder().encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(target.writeSync(bytes));
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.BrokenPipe || isTerminalGone(thrown)) return false;
    throw thrown;
  }
}

/** A terminal whose window was closed fails with EIO. */
const isTerminalGone = (thrown: unknown) =>
  thrown instanceof Error && (thrown as { code?: unknown }).code === "EIO";

/**
 * Asks on the terminal and gives the line typed, or null at the end of input or when `signal` aborts. The
 * question goes to standard error: standard output holds answers only.
 */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | null> {
  writeError(question);
  return await readInputLine(signal);
}

/**
 * Asks on the terminal for what must not be shown, and gives the line typed; null at Ctrl-C, Ctrl-D, the
 * end of input, or when `signal` aborts. The question goes to standard error. The terminal is as it was
 * afterwards, whatever happens. Standard input must be a terminal.
 */
export async function askSecret(question: string, signal?: AbortSignal): Promise<string | null> {
  const line = new SecretLine();
  Deno.stdin.setRaw(true);
  try {
    writeError(question);
    while (true) {
      const byte = await readByte(signal);
      if (byte === null) return null;
      const step = line.push(byte);
      if (step.kind === "line") return step.text;
      if (step.kind === "cancelled") return null;
    }
  } finally {
    Deno.stdin.setRaw(false);
    writeError("\n");
  }
}

/**
 * The next line of standard input without its end, such as a password that was piped in; null at the end
 * of input, or when `signal` aborts. What follows it stays unread. Throws when it is too long or no UTF-8.
 */
export async function readInputLine(signal?: AbortSignal): Promise<string | null> {
  const bytes: number[] = [];
  while (true) {
    const byte = await readByte(signal);
    if (byte === null && (bytes.length === 0 || signal?.aborted)) return null;
    if (byte === null || byte === 10) return decodeSecret(bytes).replace(/\r$/, "");
    bytes.push(byte);
    if (bytes.length > secretBytesMax) throw tooLong();
  }
}

/** One byte, so that the rest stays with the system for whoever reads next; null at the end. */
async function readByte(signal?: AbortSignal): Promise<number | null> {
  const buffer = new Uint8Array(1);
  const aborted = Promise.withResolvers<null>();
  const abort = () => aborted.resolve(null);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    // A read cannot be taken back: an aborted one is left behind, and the process ends with it pending.
    const count = await Promise.race([Deno.stdin.read(buffer), aborted.promise]);
    return count === 1 && !signal?.aborted ? buffer[0] ?? null : null;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
