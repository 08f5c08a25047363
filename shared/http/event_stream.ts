/**
 * Server-sent events (WHATWG HTML, section 9.2) for a request whose work takes minutes: `event: progress`
 * as it goes, then one `event: result` with the status and body that a plain request would have had.
 */
import { Failure, failureBody, messageOf } from "../errors.ts";

export interface StreamEvent {
  readonly event: string;
  /** The data lines, joined by newlines. */
  readonly data: string;
}

/** How the work ended: what the plain form of the route would have answered. */
export interface StreamResult {
  readonly status: number;
  readonly body: unknown;
}

export type Emit = (event: "progress", data: unknown) => void;

const contentType = "text/event-stream";
/** An event longer than this is no event of ours. */
const eventCharactersMax = 1024 * 1024;

/** True when the request asks for the streamed form. */
export function wantsEventStream(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  return accept.split(",").some((range) =>
    range.split(";")[0]?.trim().toLowerCase() === contentType
  );
}

/** True when the response is a stream of events. */
export function isEventStream(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return type.split(";")[0]?.trim().toLowerCase() === contentType;
}

/** One event on the wire; `data` is JSON and so has no line break. */
export function encodeEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Runs `work` and streams what it emits, then its result; a thrown `Failure` becomes the result of its
 * status, anything else a 500. A client that goes away does not cancel the work. Progress that a slow
 * client has not taken is replaced by newer progress, never queued.
 */
export function eventStreamResponse(work: (emit: Emit) => Promise<StreamResult>): Response {
  const encoder = new TextEncoder();
  let pending: unknown;
  let gone = false;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const write = (event: string, data: unknown) => {
        if (!gone) controller.enqueue(encoder.encode(encodeEvent(event, data)));
      };
      const emit: Emit = (event, data) => {
        if ((controller.desiredSize ?? 0) > 0) write(event, data);
        else pending = data;
      };
      void settle(work, emit).then((result) => {
        pending = undefined;
        write("result", result);
        if (!gone) controller.close();
      });
    },
    pull(controller) {
      if (pending === undefined) return;
      controller.enqueue(encoder.encode(encodeEvent("progress", pending)));
      pending = undefined;
    },
    cancel() {
      gone = true;
    },
  }, { highWaterMark: 4 });
  return new Response(stream, {
    headers: { "content-type": contentType, "cache-control": "no-store" },
  });
}

/** Never rejects. */
async function settle(
  work: (emit: Emit) => Promise<StreamResult>,
  emit: Emit,
): Promise<StreamResult> {
  try {
    return await work(emit);
  } catch (thrown) {
    return thrown instanceof Failure
      ? { status: thrown.status, body: failureBody(thrown) }
      : { status: 500, body: { error: messageOf(thrown) } };
  }
}

/** The events of `body` as they come; one without its final blank line is not given. Throws when one is too long. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent, void, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line break.
    const whole = text.endsWith("\r") ? text.length - 1 : text.length;
    const blocks = text.slice(0, whole).replaceAll(/\r\n?/g, "\n").split("\n\n");
    text = (blocks.pop() ?? "") + text.slice(whole);
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== null) yield event;
    }
    if (text.length > eventCharactersMax) throw new Error("an event of the stream is too long");
  }
}

/** One block of lines as an event, or null when it has no data (a comment, a keep-alive). */
export function parseEvent(block: string): StreamEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join("\n") };
}
