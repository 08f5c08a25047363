import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  deferred,
  RawClient,
  sleep,
  until,
  upgradeHead,
  upgrading,
  within,
  withListener,
} from "../support/listen_support.ts";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

Deno.test("a slow head is cut, on the first request and on a later one", async () => {
  await withListener(() => new Response("answered"), async ({ port }) => {
    using silent = new RawClient(port);
    using slow = new RawClient(port);
    using later = new RawClient(port);
    slow.write("GET / HTTP/1.1\r\nHost: x\r\n");
    later.write(get);
    await later.expect("answered");
    later.write("GET / HT");
    const drip = setInterval(() => {
      slow.write("a: b\r\n");
      later.write("x");
    }, 20);
    try {
      await Promise.all([silent, slow, later].map((client) => client.expectEnd()));
    } finally {
      clearInterval(drip);
    }
    assert.equal(slow.received.length, 0);
    assert.equal(silent.received.length, 0);
  }, { headMs: 200, keepAliveIdleMs: 60_000 });
});

Deno.test("a body that stops coming is cut while the handler waits for it", async () => {
  const outcome = deferred<string>();
  await withListener(async (request) => {
    const result = await request.text().then(() => "whole", () => "broken");
    outcome.resolve(result);
    return new Response(result);
  }, async ({ port }) => {
    using client = new RawClient(port);
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
    await client.expectEnd();
    assert.equal(await within("the handler's body", outcome.promise), "broken");
  }, { bodyIdleMs: 150, headMs: 60_000 });
});

Deno.test("a body that keeps coming outlives the idle bound", async () => {
  await withListener(async (request) => new Response(await request.text()), async ({ port }) => {
    using client = new RawClient(port);
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    for (const letter of "abcdefghij") {
      await sleep(100);
      client.write(letter);
    }
    await client.expect("abcdefghij");
  }, { bodyIdleMs: 600, headMs: 100 });
});

Deno.test("an idle kept-alive connection is cut", async () => {
  await withListener(() => new Response("answered"), async ({ port }) => {
    using client = new RawClient(port);
    client.write(get);
    await client.expect("answered");
    await client.expectEnd();
  }, { keepAliveIdleMs: 150, headMs: 60_000 });
});

Deno.test("a long answer and an event stream outlive every idle bound", async () => {
  const short = { headMs: 100, bodyIdleMs: 100, keepAliveIdleMs: 100, stalledReaderMs: 100 };
  let events: ReadableStreamDefaultController<Uint8Array> | undefined;
  await withListener(async (request, connection) => {
    if (connection.rawTarget === "/events") {
      return new Response(
        new ReadableStream({ start: (controller) => void (events = controller) }),
      );
    }
    await request.text();
    await sleep(700);
    return new Response("worked long");
  }, async ({ port }) => {
    using working = new RawClient(port);
    using listening = new RawClient(port);
    working.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    listening.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    await working.expect("worked long");
    events?.enqueue(new TextEncoder().encode("data: late\n\n"));
    await listening.expect("data: late");
    events?.close();
  }, short);
});

Deno.test("a client that does not read is cut, and holds back its sender meanwhile", async () => {
  let produced = 0;
  const cancelled = deferred<void>();
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        produced += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel: () => cancelled.resolve(),
    });
  await withListener(() => new Response(endless()), async (server) => {
    using client = new RawClient(server.port, { keep: false });
    client.socket.pause();
    client.write(get);
    await within("the response to be cancelled", cancelled.promise);
    await until("the connection to be dropped", () => server.connectionCount === 0);
    // What the kernel's buffers take, and no more: the relay itself holds a few reads.
    assert.ok(produced < 64 * 1024 * 1024, `${produced} bytes produced`);
  }, { stalledReaderMs: 300 });
});

Deno.test("a slow reader that does read gets everything", async () => {
  const size = 8_000_000;
  await withListener(() => new Response(new Uint8Array(size)), async ({ port }) => {
    using client = new RawClient(port, { keep: false });
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    for (let round = 0; !client.ended && round < 10; round++) {
      client.socket.pause();
      await sleep(50);
      client.socket.resume();
      await sleep(50);
    }
    await client.expectEnd();
    assert.ok(client.receivedBytes > size);
  }, { stalledReaderMs: 400, keepAliveIdleMs: 100 });
});

Deno.test("connections are counted per address and in all, and counted off again", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async (server) => {
    const opened: RawClient[] = [];
    const open = async (localAddress: string) => {
      const client = new RawClient(server.port, { localAddress });
      opened.push(client);
      client.write(upgradeHead());
      await until(
        "an answer or the end",
        () => client.text !== "" || client.closed || client.ended,
      );
      return client.text.startsWith("HTTP/1.1 101");
    };
    try {
      assert.equal(await open("127.0.0.2"), true);
      assert.equal(await open("127.0.0.2"), true);
      assert.equal(await open("127.0.0.2"), false, "two of one address are enough");
      assert.equal(await open("127.0.0.3"), true);
      assert.equal(await open("127.0.0.4"), false, "three in all are enough");
      (await next()).terminate();
      await until("the count to fall", () => server.connectionCount === 2);
      assert.equal(await open("127.0.0.2"), true, "room again");
    } finally {
      for (const client of opened) client[Symbol.dispose]();
    }
    await until("all to be gone", () => server.connectionCount === 0);
  }, { connectionsPerAddressMax: 2, connectionsMax: 3 });
});

Deno.test("shutdown is bounded, stalled peers or not", async () => {
  const { fetch: upgrade, next } = upgrading({});
  const stuck = deferred<Response>();
  let streamCancelled = false;
  let asked = 0;
  await withListener((request, connection) => {
    asked++;
    switch (connection.rawTarget) {
      case "/stuck":
        return stuck.promise;
      case "/events":
        return new Response(
          new ReadableStream({ cancel: () => void (streamCancelled = true) }),
        );
      case "/huge":
        return new Response(new Uint8Array(50_000_000));
      default:
        return upgrade(request, connection);
    }
  }, async (server) => {
    const clients = Array.from({ length: 6 }, () => new RawClient(server.port));
    const [silent, half, waiting, listening, unread, socket] = clients;
    try {
      half?.write("GET / HT");
      waiting?.write("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n");
      listening?.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
      unread?.socket.pause();
      unread?.write("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
      socket?.write(upgradeHead());
      const accepted = await next();
      await until("all requests to arrive", () => asked === 4 && server.connectionCount === 6);
      const closed = deferred<number>();
      accepted.onClose((code) => closed.resolve(code));
      const start = performance.now();
      await within("shutdown", server.shutdown(), 3000);
      assert.ok(performance.now() - start < 2800);
      assert.equal(server.connectionCount, 0);
      // The raw client never answers the close frame, so it was terminated.
      assert.equal(await closed.promise, 1006);
      assert.ok(socket?.received.includes(closeFrame1001), "the close frame says 1001");
      assert.ok(streamCancelled);
      await silent?.expectEnd();
      await assert.rejects(fetch(server.url));
    } finally {
      stuck.resolve(new Response());
      for (const client of clients) client[Symbol.dispose]();
    }
  }, { shutdownGraceMs: 300, shutdownMs: 1500 });
});

// 0x88: a final close frame; 15 bytes: 1001 and "shutting down".
const closeFrame1001 = Buffer.from([0x88, 15, 1001 >> 8, 1001 & 255]);

Deno.test("shutdown lets a running request finish", async () => {
  const seen = deferred<void>();
  await withListener(async () => {
    seen.resolve();
    await sleep(150);
    return new Response("finished");
  }, async (server) => {
    using client = new RawClient(server.port);
    client.write(get);
    await seen.promise;
    await server.shutdown();
    await client.expect("finished");
    await client.expectEnd();
  }, { shutdownGraceMs: 1500 });
});
