/** Bodies, read with a bound. */
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** The request's JSON. Throws `malformedJson`, or `requestBodyTooLarge` without reading the rest. */
export async function readJsonBody(request: Request): Promise<unknown> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > limits.requestBodyBytesMax) throw fail("requestBodyTooLarge");
  const text = await readText(request.body, limits.requestBodyBytesMax);
  if (text === null) throw fail("requestBodyTooLarge");
  try {
    return JSON.parse(text);
  } catch {
    throw fail("malformedJson");
  }
}

/** The text of `body` (UTF-8), or null when it has more than `bytesMax` bytes; the rest is not read. */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<string | null> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop cancels the stream.
    if (bytes > bytesMax) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
