/** Server-sent events, the reading side (WHATWG HTML section 9.2.6), as far as the grid uses them. */

export interface StreamEvent {
  /** The `event` field; `message` when there was none. */
  readonly event: string;
  /** The `data` fields, joined by newlines. */
  readonly data: string;
}

/** A frame longer than this is a server that does not speak the protocol. */
const frameCharactersMax = 1024 * 1024;

/**
 * The events of `body`, until it ends; leaving the loop early cancels it. Throws `RangeError` on a frame
 * over 1 MiB. A last frame without its blank line is dropped, as the standard says.
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > frameCharactersMax) throw new RangeError("an event over 1 MiB");
    // A CR at the end may be half of a CRLF: it waits for the next chunk.
    const held = rest.endsWith("\r") ? 1 : 0;
    const lines = rest.slice(0, rest.length - held).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + (held === 1 ? "\r" : "");
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event: event || "message", data: data.join("\n") };
        event = "";
        data = [];
        continue;
      }
      const { name, value } = field(line);
      if (name === "event") event = value;
      else if (name === "data") data.push(value);
    }
  }
}

function field(line: string): { readonly name: string; readonly value: string } {
  const colon = line.indexOf(":");
  // A line that starts with a colon is a comment: its name is empty, and nobody looks at it.
  if (colon === -1) return { name: line, value: "" };
  const value = line.slice(colon + 1);
  return { name: line.slice(0, colon), value: value.startsWith(" ") ? value.slice(1) : value };
}
