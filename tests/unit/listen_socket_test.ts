import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deflateRawSync } from "node:zlib";
import { dial, DialError } from "../../shared/host/dial.ts";
import { cutCloseReason, isSendableCloseCode, type Socket } from "../../shared/http/socket.ts";
import {
  deferred,
  frame,
  RawClient,
  sleep,
  until,
  upgradeHead,
  upgrading,
  within,
  withListener,
} from "../support/listen_support.ts";

const payloadBytesMax = 1_572_992;
const open = { openTimeoutMs: 5000 };

function closeOf(socket: Socket): Promise<{ code: number; reason: string }> {
  return within(
    "the close",
    new Promise((resolve) => socket.onClose((code, reason) => resolve({ code, reason }))),
  );
}

function wsUrl(port: number): string {
  return `ws://127.0.0.1:${port}/`;
}

/** The code of the last close frame the server sent. */
function closeCodeSent(client: RawClient): number {
  const at = client.received.lastIndexOf(0x88);
  return at < 0 ? 0 : client.received.readUInt16BE(at + 2);
}

Deno.test("texts go both ways and the close code and reason arrive", async () => {
  const { fetch, next } = upgrading({ protocol: "grid" });
  await withListener(fetch, async ({ port }) => {
    const near = await dial(wsUrl(port), open);
    const far = await next();
    far.onText((text) => far.send(`echo ${text}`));
    const heard = deferred<string>();
    near.onText(heard.resolve);
    near.send("häll");
    assert.equal(await heard.promise, "echo häll");
    const closed = closeOf(near);
    far.close(4001, "done");
    assert.deepEqual(await closed, { code: 4001, reason: "done" });
    assert.equal(near.closed, true);
    near.send("ignored");
    assert.deepEqual(await closeOf(near), { code: 4001, reason: "done" }, "told late too");
  });
});

Deno.test("Deno's own WebSocket client is served as well", async () => {
  const { fetch, next } = upgrading({ compress: true });
  await withListener(fetch, async ({ port }) => {
    const client = new WebSocket(wsUrl(port));
    const heard = deferred<string>();
    client.onmessage = (event) => heard.resolve(String(event.data));
    const far = await next();
    far.send("welcome");
    assert.equal(await within("the message", heard.promise), "welcome");
    const closed = deferred<void>();
    client.onclose = () => closed.resolve();
    client.close();
    await closed.promise;
  });
});

Deno.test("a message before anyone listens is kept, also past the close", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async ({ port }) => {
    const near = await dial(wsUrl(port), open);
    const far = await next();
    far.send("one");
    far.send("two");
    far.close(1000);
    await closeOf(near);
    const heard: string[] = [];
    near.onText((text) => heard.push(text));
    await until("both messages", () => heard.length === 2);
    assert.deepEqual(heard, ["one", "two"]);
  });
});

Deno.test("a flood before anyone listens closes 1009", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async ({ port }) => {
    const near = await dial(wsUrl(port), open);
    await next();
    for (let i = 0; i < 65; i++) near.send("x");
    assert.equal((await closeOf(near)).code, 1009);
  });
});

Deno.test("binary messages are reported without their bytes", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async ({ port }) => {
    using client = new RawClient(port);
    client.write(upgradeHead());
    const far = await next();
    const binary = deferred<void>();
    far.onBinary(binary.resolve);
    far.onText(() => {});
    client.write(frame("abc", { opcode: 2 }));
    await within("the binary message", binary.promise);
  });
});

Deno.test("a kept-alive connection is taken over, with frames sent early", async () => {
  const { fetch: upgrade, next } = upgrading({});
  await withListener(async (request, connection) => {
    if (connection.rawTarget !== "/ws") return new Response(`page ${await request.text()}.`);
    await sleep(50); // as a handler that looks a ticket up
    return upgrade(request, connection);
  }, async (server) => {
    using client = new RawClient(server.port);
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.expect("page .");
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
    await client.expect("page body.");
    client.write(Buffer.concat([Buffer.from(upgradeHead("", "/ws")), frame("early")]));
    await sleep(10);
    client.write(frame("soon"));
    const far = await next();
    const heard: string[] = [];
    far.onText((text) => heard.push(text));
    await client.expect("HTTP/1.1 101");
    client.write(frame("later"));
    await until("three texts", () => heard.length === 3);
    assert.deepEqual(heard, ["early", "soon", "later"]);
    assert.equal(server.connectionCount, 1);
  });
});

Deno.test("a client that ends before it is taken over gets no socket, and is let go", async () => {
  let sockets = 0;
  const asked = deferred<void>();
  const ended = deferred<void>();
  await withListener(async (request, connection) => {
    asked.resolve();
    await ended.promise;
    return connection.upgrade(request, { onSocket: () => sockets++ });
  }, async (server) => {
    using client = new RawClient(server.port);
    client.socket.allowHalfOpen = true;
    client.write(upgradeHead());
    await asked.promise;
    client.socket.end();
    await sleep(50); // its end arrives
    ended.resolve();
    await until("the connection to be let go", () => server.connectionCount === 0);
    assert.equal(sockets, 0);
  });
});

Deno.test("a request pipelined after an upgrade is a broken frame and no request", async () => {
  const { fetch, next } = upgrading({});
  let requests = 0;
  await withListener((request, connection) => {
    requests++;
    return fetch(request, connection);
  }, async (server) => {
    using client = new RawClient(server.port);
    client.write(`${upgradeHead()}GET /again HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.equal((await closeOf(await next())).code, 1006);
    await client.expectEnd();
    assert.match(client.text, /^HTTP\/1\.1 101 /);
    assert.equal(closeCodeSent(client), 1002);
    assert.equal(requests, 1);
  });
});

Deno.test("what is no valid upgrade is refused without a takeover", async () => {
  const { fetch } = upgrading({});
  await withListener(fetch, async ({ port, url }) => {
    assert.equal((await globalThis.fetch(url).then((r) => (r.body?.cancel(), r))).status, 400);
    using client = new RawClient(port);
    client.write(upgradeHead().replace("Version: 13", "Version: 8"));
    await client.expect("HTTP/1.1 426");
  });
});

Deno.test("a handler that throws after upgrading gets no socket", async () => {
  let sockets = 0;
  await withListener((request, connection) => {
    connection.upgrade(request, { onSocket: () => sockets++ });
    throw new Error("changed its mind");
  }, async ({ port }) => {
    await assert.rejects(dial(wsUrl(port), open), { status: 500 });
    assert.equal(sockets, 0);
  });
});

Deno.test("deflate is negotiated where both sides want it", async () => {
  for (const compress of [true, false]) {
    const { fetch, next } = upgrading({ compress });
    await withListener(fetch, async ({ port }) => {
      using client = new RawClient(port);
      client.write(upgradeHead("Sec-WebSocket-Extensions: permessage-deflate\r\n"));
      const far = await next();
      far.send("long ".repeat(20_000));
      await client.expect("\r\n\r\n");
      assert.equal(client.text.includes("permessage-deflate"), compress);
      if (!compress) await until("all of it", () => client.receivedBytes > 100_000);
      else {
        await until("a compressed frame", () => client.text.includes("\r\n\r\n\xc1"));
        assert.ok(client.receivedBytes < 10_000);
      }
    });
  }
});

for (const compress of [false, true]) {
  const how = compress ? "compressed" : "plain";
  Deno.test(`a message of the largest size passes, one byte more is 1009 (${how})`, async () => {
    const { fetch, next } = upgrading({ compress, payloadBytesMax });
    await withListener(fetch, async ({ port }) => {
      const near = await dial(wsUrl(port), { ...open, compress });
      const far = await next();
      const lengths: number[] = [];
      far.onText((text) => lengths.push(text.length));
      near.send("x".repeat(payloadBytesMax));
      await until("the largest message", () => lengths.length === 1);
      near.send("x".repeat(payloadBytesMax + 1));
      assert.equal((await closeOf(near)).code, 1009);
      assert.deepEqual(lengths, [payloadBytesMax]);
    });
  });
}

Deno.test("fragments are counted together", async () => {
  const { fetch, next } = upgrading({ payloadBytesMax });
  for (const excess of [0, 1]) {
    await withListener(fetch, async ({ port }) => {
      using client = new RawClient(port);
      client.write(upgradeHead());
      const far = await next();
      const length = deferred<number>();
      far.onText((text) => length.resolve(text.length));
      const half = new Uint8Array(payloadBytesMax / 2).fill(97);
      client.write(frame(half, { final: false }));
      client.write(frame(half, { opcode: 0, final: excess === 0 }));
      if (excess === 1) {
        client.write(frame("x", { opcode: 0 }));
        await until("the close frame", () => closeCodeSent(client) === 1009);
      } else assert.equal(await within("the message", length.promise), payloadBytesMax);
    });
  }
});

Deno.test("a deflate bomb closes 1009 and takes little memory", async () => {
  // 400 MB of zeros in about 400 kB.
  const piece = deflateRawSync(new Uint8Array(400_000_000), { level: 9 });
  const { fetch, next } = upgrading({ compress: true, payloadBytesMax });
  await withListener(fetch, async ({ port }) => {
    using client = new RawClient(port);
    client.write(upgradeHead("Sec-WebSocket-Extensions: permessage-deflate\r\n"));
    const far = await next();
    far.onText(() => assert.fail("the bomb was delivered"));
    let peak = 0;
    const before = Deno.memoryUsage();
    const watch = setInterval(() => {
      const now = Deno.memoryUsage();
      peak = Math.max(peak, now.external + now.heapUsed - before.external - before.heapUsed);
    }, 1);
    client.write(frame(piece, { compressed: true }));
    await until("the close frame", () => closeCodeSent(client) === 1009);
    clearInterval(watch);
    assert.ok(peak < 60_000_000, `${peak} bytes more at the peak`);
  });
});

Deno.test("the listener terminates a peer that answers no ping", async () => {
  const { fetch, next } = upgrading({ heartbeatMs: 60 });
  await withListener(fetch, async (server) => {
    using client = new RawClient(server.port);
    client.write(upgradeHead());
    const far = await next();
    let closes = 0;
    far.onClose(() => closes++);
    assert.equal((await closeOf(far)).code, 1006);
    await client.expectEnd();
    assert.ok(client.received.includes(0x89), "a ping was sent first");
    await sleep(20);
    assert.equal(closes, 1);
    await until("the count to fall", () => server.connectionCount === 0);
  });
});

Deno.test("peers that answer pings stay", async () => {
  const { fetch, next } = upgrading({ heartbeatMs: 50 });
  await withListener(fetch, async ({ port }) => {
    const near = await dial(wsUrl(port), { ...open, heartbeatMs: 50 });
    const far = await next();
    await sleep(400);
    assert.equal(near.closed || far.closed, false);
    near.terminate();
    assert.equal((await closeOf(near)).code, 1006);
    assert.equal((await closeOf(far)).code, 1006);
  });
});

Deno.test("the dialer notices a server that stops answering", async () => {
  // A server that shakes hands by the book (RFC 6455, 1.3) and then says nothing more.
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = server.accept();
  const dialled = dial(wsUrl(server.addr.port), { ...open, heartbeatMs: 60 });
  const connection = await accepted;
  const buffer = new Uint8Array(4096);
  const request = new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? "";
  const digest = await crypto.subtle.digest(
    "SHA-1",
    new TextEncoder().encode(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`),
  );
  await connection.write(new TextEncoder().encode(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${Buffer.from(digest).toString("base64")}\r\n\r\n`,
  ));
  assert.equal((await closeOf(await dialled)).code, 1006);
  connection.close();
  server.close();
});

Deno.test("unsent bytes are visible, so a reader too slow can be terminated", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async ({ port }) => {
    using client = new RawClient(port);
    client.write(upgradeHead());
    await client.expect("101");
    client.socket.pause();
    const far = await next();
    const text = "x".repeat(256 * 1024);
    for (let i = 0; i < 200 && far.bufferedBytes <= text.length; i++) {
      far.send(text);
      await sleep(1);
    }
    assert.ok(far.bufferedBytes > text.length);
    far.terminate();
    assert.equal((await closeOf(far)).code, 1006);
  });
});

Deno.test("shutdown closes sockets with 1001", async () => {
  const { fetch, next } = upgrading({});
  await withListener(fetch, async (server) => {
    const near = await dial(wsUrl(server.port), open);
    const far = await next();
    const closed = [closeOf(near), closeOf(far)];
    await server.shutdown();
    assert.equal((await closed[0])?.code, 1001);
    assert.equal((await closed[1])?.code, 1001);
  });
});

Deno.test("a refused dial names the status, and never the address", async () => {
  await withListener(
    (_, { rawTarget }) =>
      rawTarget.startsWith("/moved")
        ? new Response(null, { status: 302, headers: { location: "/other" } })
        : Response.json({ error: "no" }, { status: 401 }),
    async (server) => {
      for (
        const [path, status] of [["?ticket=secret", 401], ["moved?ticket=secret", 302]] as const
      ) {
        const error = await dial(wsUrl(server.port) + path, open).catch((e) => e);
        assert.ok(error instanceof DialError);
        assert.equal(error.status, status);
        assert.ok(error.message.includes(String(status)) && !error.message.includes("secret"));
      }
      await until("no connection left", () => server.connectionCount === 0);
    },
  );
});

Deno.test("a dial that cannot open rejects in time", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = wsUrl(silent.addr.port);
  await assert.rejects(dial(url, { openTimeoutMs: 100 }), /within 100 ms/);
  await assert.rejects(dial(url, { ...open, signal: AbortSignal.timeout(50) }), /cancelled/);
  await assert.rejects(dial(url, { ...open, signal: AbortSignal.abort() }), /cancelled/);
  await assert.rejects(
    dial("nonsense:secret", open),
    (error: Error) => error instanceof DialError && !error.message.includes("secret"),
  );
  silent.close();
  await assert.rejects(dial(url, open), /ECONNREFUSED/);
});

Deno.test("close codes and reasons are made fit to send", () => {
  assert.deepEqual([1000, 1001, 1009, 4999].map(isSendableCloseCode), [true, true, true, true]);
  assert.deepEqual(
    [0, 999, 1004, 1005, 1006, 1015, 2000, 5000, 1.5].filter(isSendableCloseCode),
    [],
  );
  assert.equal(cutCloseReason("short"), "short");
  assert.equal(cutCloseReason("a" + "é".repeat(80)), "a" + "é".repeat(61));
  assert.equal(cutCloseReason("é".repeat(80)), "é".repeat(61));
});
