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

/** What stops `text` from being JSON, or null: V8's own message often names no place. */
export function syntaxFault(text: string): { readonly place: Place; readonly what: string } | null {
  const checker = new Checker(text);
  const fault = checker.check();
  return fault === null ? null : { place: placeOf(text, fault.at), what: fault.what };
}

class Fault extends Error {}

/** A strict reader (RFC 8259) that only says where it stops. */
class Checker {
  #at = 0;
  constructor(private readonly text: string) {}

  check(): { at: number; what: string } | null {
    try {
      this.#value();
      this.#space();
      if (this.#at < this.text.length) this.#stop("the end");
      return null;
    } catch (thrown) {
      if (thrown instanceof Fault) return { at: this.#at, what: thrown.message };
      throw thrown;
    }
  }

  #value(): void {
    this.#space();
    const next = this.text[this.#at];
    if (next === "{") this.#list("}", () => this.#member());
    else if (next === "[") this.#list("]", () => this.#value());
    else if (!this.#take(scalar)) this.#stop("a value");
  }

  #list(end: "}" | "]", item: () => void): void {
    this.#at++;
    this.#space();
    if (this.text[this.#at] !== end) {
      for (;;) {
        item();
        this.#space();
        if (this.text[this.#at] !== ",") break;
        this.#at++;
      }
    }
    if (this.text[this.#at] !== end) this.#stop(`"," or "${end}"`);
    this.#at++;
  }

  #member(): void {
    this.#space();
    if (!this.#take(string)) this.#stop("a key in double quotes");
    this.#space();
    if (this.text[this.#at] !== ":") this.#stop('":"');
    this.#at++;
    this.#value();
  }

  #space(): void {
    this.#take(/[ \t\r\n]*/y);
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    this.#at += match?.[0].length ?? 0;
    return match !== null;
  }

  #stop(expected: string): never {
    const next = this.text[this.#at];
    throw new Fault(`expected ${expected}, not ${next === undefined ? "the end" : `"${next}"`}`);
  }
}

// deno-lint-ignore no-control-regex -- those that JSON forbids inside a string
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const scalar = new RegExp(
  `${string.source}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null`,
  "y",
);
