/** Where in a JSON text a value stands, so that an error can name line and column. Pure. */

export interface Place {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/** Line and column of character `offset`. */
export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * The place of the value at `path` in `text`, which must be valid JSON; when the path leads nowhere (a
 * missing key), the nearest value above it.
 */
export function locate(text: string, path: ReadonlyArray<PropertyKey>): Place {
  const scanner = new Scanner(text);
  return placeOf(text, scanner.find(path));
}

/** Walks valid JSON without building it. */
class Scanner {
  #at = 0;
  constructor(private readonly text: string) {}

  find(path: ReadonlyArray<PropertyKey>): number {
    this.#space();
    const here = this.#at;
    const [step, ...rest] = path;
    if (step === undefined) return here;
    const opening = this.text[here];
    if (opening !== "{" && opening !== "[") return here;
    for (let index = 0;; index++) {
      this.#at++;
      this.#space();
      if (/[}\]]/.test(this.text[this.#at] ?? "}")) return here;
      let key: PropertyKey = index;
      if (opening === "{") {
        key = JSON.parse(this.#string()) as string;
        this.#space();
        this.#at++; // the colon
      }
      if (key === step) return this.find(rest);
      this.#value();
      this.#space();
      if (this.text[this.#at] !== ",") return here;
    }
  }

  #space(): void {
    while (/\s/.test(this.text[this.#at] ?? "x")) this.#at++;
  }

  /** Passes over a string and gives it as it is written, quotes included. */
  #string(): string {
    const start = this.#at++;
    while (this.#at < this.text.length && this.text[this.#at] !== '"') {
      this.#at += this.text[this.#at] === "\\" ? 2 : 1;
    }
    return this.text.slice(start, ++this.#at);
  }

  #value(): void {
    let depth = 0;
    do {
      this.#space();
      const character = this.text[this.#at] ?? "";
      if (character === "") return;
      if (character === '"') this.#string();
      else if (character === "{" || character === "[") depth++, this.#at++;
      else if (character === "}" || character === "]") depth--, this.#at++;
      else if (character === "," || character === ":") this.#at++;
      else while (/[^\s,\]}]/.test(this.text[this.#at] ?? ",")) this.#at++;
    } while (depth > 0);
  }
}
