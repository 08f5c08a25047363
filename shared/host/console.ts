/** The three standard streams as the command line sees them; only `lifecycle.ts` ends the process. */

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
    if (thrown instanceof Deno.errors.BrokenPipe) return false;
    throw thrown;
  }
}

/** Asks on the terminal and gives the line typed, or null at the end of input. */
export function askLine(question: string): string | null {
  return prompt(question);
}
