import assert from "node:assert/strict";
import { readEvents } from "../../shared/http/event_stream.ts";

Deno.test("event stream: frames survive any chunking, comments are passed over", async () => {
  const bytes = new TextEncoder().encode(
    ': hello\n\nevent: progress\ndata: {"a":\ndata: 1}\n\nevent: result\ndata: ü\n\ndata: cut off',
  );
  for (const size of [1, 3, bytes.length]) {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) {
          controller.enqueue(bytes.slice(at, at + size));
        }
        controller.close();
      },
    });
    const events = [];
    for await (const { event, data } of readEvents(body)) events.push([event, data]);
    assert.deepEqual(events, [["progress", '{"a":\n1}'], ["result", "ü"]]);
  }
});
