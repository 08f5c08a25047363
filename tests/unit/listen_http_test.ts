import assert from "node:assert/strict";
import { listen } from "../../shared/host/listen.ts";
import { isValidHost, rawTargetOf } from "../../shared/http/raw_target.ts";
import { countedAddress, plainAddress } from "../../shared/host/relay.ts";
import {
  deferred,
  RawClient,
  sleep,
  until,
  within,
  withListener,
} from "../support/listen_support.ts";

async function exchange(port: number, request: string): Promise<string> {
  using client = new RawClient(port);
  client.write(request);
  await client.expectEnd();
  return client.text;
}

function bodyOf(response: string): string {
  return response.slice(response.indexOf("\r\n\r\n") + 4);
}

Deno.test("the handler sees the target exactly as sent", async () => {
  await withListener((_, connection) => new Response(connection.rawTarget), async ({ port }) => {
    const targets = {
      "/a/%2e%2e/b": "/a/%2e%2e/b",
      "/a\\b": "/a\\b",
      "/a%2Fb//c": "/a%2Fb//c",
      "//evil/x": "//evil/x",
      "/a/../b?q=%zz": "/a/../b?q=%zz",
      "/%zz": "/%zz",
      "http://other/a/../b": "/a/../b",
      "http://other?q=1": "/?q=1",
    };
    for (const [target, expected] of Object.entries(targets)) {
      const response = await exchange(
        port,
        `GET ${target} HTTP/1.1\r\nHost: x:1\r\nConnection: close\r\n\r\n`,
      );
      assert.match(response, /^HTTP\/1\.1 200 /, target);
      assert.equal(bodyOf(response), expected);
    }
  });
});

Deno.test("a request body reaches the handler and leaves the target alone", async () => {
  await withListener(
    async (request, connection) =>
      new Response(`${request.method} ${connection.rawTarget} ${await request.text()}`),
    async ({ port }) => {
      const response = await exchange(
        port,
        "POST /a/%2e%2e//b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
      );
      assert.equal(bodyOf(response), "POST /a/%2e%2e//b hello");
    },
  );
});

Deno.test("a bad Host is a 400", async () => {
  await withListener(() => new Response("reached"), async ({ port }) => {
    const bad = ["bad host", "x:99999", "<x>", "x/../y", "x@y", "[::1", "x\xe9", "", "x:", "x?"];
    for (const host of bad) {
      const response = await exchange(port, `GET /a HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      assert.match(response, /^HTTP\/1\.1 400 /, host);
    }
    for (const heads of ["", "Host: x\r\nHost: y\r\n"]) {
      assert.match(await exchange(port, `GET /a HTTP/1.1\r\n${heads}\r\n`), /^HTTP\/1\.1 400 /);
    }
    for (const host of ["x", "x:80", "[::1]:8", "127.0.0.1"]) {
      const head = `GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      assert.match(await exchange(port, head), /^HTTP\/1\.1 200 /, host);
    }
  });
});

Deno.test("raw_target: hosts and targets", () => {
  assert.equal(isValidHost(null), false);
  assert.equal(isValidHost("a.b-c:65535"), true);
  assert.equal(isValidHost("a.b-c:65536"), false);
  assert.equal(rawTargetOf("http://x/a?b#c"), "/a?b#c");
  assert.equal(rawTargetOf("http://[::1]:80//a"), "//a");
});

Deno.test("addresses are shown plainly and counted by site", () => {
  assert.equal(plainAddress("::ffff:10.1.2.3"), "10.1.2.3");
  assert.equal(plainAddress("::1"), "::1");
  assert.equal(countedAddress("10.1.2.3"), "10.1.2.3");
  assert.equal(countedAddress("2001:db8::1"), countedAddress("2001:0DB8:0:0:ffff::2"));
  assert.notEqual(countedAddress("2001:db8::1"), countedAddress("2001:db8:0:1::1"));
});

Deno.test("a handler that throws is a 500 with its message, and is logged once", async () => {
  const logged: unknown[] = [];
  const listener = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Promise.reject(new Error("broken on purpose")),
    log: (error) => logged.push(error),
  });
  const response = await fetch(`${listener.url}/`);
  assert.equal(response.status, 500);
  assert.deepEqual(await response.json(), { error: "broken on purpose" });
  assert.equal(logged.length, 1);
  await listener.shutdown();
});

Deno.test("the remote address is the client's, whatever it claims", async () => {
  await withListener((_, connection) => new Response(connection.remoteAddress), async (server) => {
    using client = new RawClient(server.port, { localAddress: "127.0.0.9" });
    client.write("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 8.8.8.8\r\n\r\n");
    await client.expect("127.0.0.9");
    assert.ok(!client.text.includes("8.8.8.8"));
  });
});

Deno.test("IPv6 hostnames work", async () => {
  const listener = await listen({
    hostname: "::1",
    port: 0,
    fetch: (_, connection) => new Response(connection.remoteAddress),
  });
  try {
    assert.equal(listener.url, `http://[::1]:${listener.port}`);
    assert.equal(await (await fetch(listener.url)).text(), "::1");
  } finally {
    await listener.shutdown();
  }
});

Deno.test("a port in use is an error, and leaves nothing open", async () => {
  await withListener(() => new Response(), async ({ port }) => {
    await assert.rejects(
      listen({ hostname: "127.0.0.1", port, fetch: () => new Response() }),
      /EADDRINUSE|in use/,
    );
  });
});

Deno.test("the private port refuses strangers", async () => {
  let privatePort = 0;
  const seen = deferred<void>();
  const release = deferred<void>();
  let calls = 0;
  await withListener(async () => {
    calls++;
    seen.resolve();
    await release.promise;
    return new Response("served");
  }, async (server) => {
    using client = new RawClient(server.port);
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await seen.promise;
    privatePort = await listeningPortOtherThan(server.port);
    const response = await exchange(
      privatePort,
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert.match(response, /^HTTP\/1\.1 403 /);
    // The relay's own source port, but on another loopback address, is a stranger too.
    const localPort = await sourcePortTo(privatePort);
    using twin = new RawClient(privatePort, { localAddress: "127.0.0.2", localPort });
    twin.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await twin.expect("HTTP/1.1 403");
    assert.equal(calls, 1);
    release.resolve();
    await client.expect("served");
  });
});

// The private port is nobody's business, so the test finds it as a stranger would: by looking.
async function listeningPortOtherThan(publicPort: number): Promise<number> {
  const inodes = new Set<string>();
  for await (const entry of Deno.readDir("/proc/self/fd")) {
    const link = await Deno.readLink(`/proc/self/fd/${entry.name}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  const rows = (await Deno.readTextFile("/proc/net/tcp")).split("\n").slice(1);
  for (const row of rows) {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    const port = parseInt(local.split(":")[1] ?? "", 16);
    if (state === "0A" && inodes.has(inode) && port !== publicPort) return port;
  }
  throw new Error("no private port found");
}

// The relay's end of the one private connection open now.
async function sourcePortTo(privatePort: number): Promise<number> {
  const rows = (await Deno.readTextFile("/proc/net/tcp")).split("\n").slice(1);
  for (const row of rows) {
    const [, local = "", remote = "", state] = row.trim().split(/\s+/);
    const remotePort = parseInt(remote.split(":")[1] ?? "", 16);
    if (state === "01" && remotePort === privatePort) {
      return parseInt(local.split(":")[1] ?? "", 16);
    }
  }
  throw new Error("no private connection found");
}

Deno.test("HTTP/2 with prior knowledge is cut", async () => {
  await withListener(() => new Response("reached"), async ({ port }) => {
    for (const pieces of [["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], ["P", "R", "I", " * HTTP/2.0"]]) {
      using client = new RawClient(port);
      for (const piece of pieces) {
        client.write(piece);
        await sleep(10);
      }
      await client.expectEnd();
      assert.equal(client.received.length, 0);
    }
    using slow = new RawClient(port);
    for (const piece of ["P", "U", "T / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"]) {
      slow.write(piece);
      await sleep(10);
    }
    await slow.expect("reached");
  });
});

Deno.test("an answer to a body left unread still arrives", async () => {
  await withListener(
    () => Response.json({ error: "request body too large" }, { status: 413 }),
    async ({ port }) => {
      for (let round = 0; round < 10; round++) {
        using client = new RawClient(port);
        client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n");
        client.write(new Uint8Array(8_000_000));
        await client.expect("request body too large");
      }
    },
  );
});

Deno.test("pipelined requests are answered in order", async () => {
  await withListener((_, connection) => new Response(connection.rawTarget), async ({ port }) => {
    const requests = ["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    using client = new RawClient(port);
    client.write(requests.join(""));
    await client.expect("/3");
    assert.deepEqual(client.text.match(/\/[123](?=HTTP|$)/g), ["/1", "/2", "/3"]);
  });
});

Deno.test("large bodies pass unharmed both ways", async () => {
  await withListener((request) => new Response(request.body), async ({ url }) => {
    const sent = new Uint8Array(5_000_000).map((_, i) => i * 31 + (i >> 8));
    const received = await (await fetch(url, { method: "POST", body: sent })).bytes();
    assert.ok(received.length === sent.length && received.every((byte, i) => byte === sent[i]));
  });
});

Deno.test("1000 requests in a row and 200 at a time leave no connection behind", async () => {
  await withListener((_, connection) => new Response(connection.rawTarget), async (server) => {
    const http = Deno.createHttpClient({ poolMaxIdlePerHost: 200 });
    for (let i = 0; i < 1000; i++) {
      const response = await fetch(`${server.url}/${i}`, { client: http });
      assert.equal(await response.text(), `/${i}`);
    }
    await Promise.all(Array.from({ length: 200 }, async (_, i) => {
      const response = await fetch(`${server.url}/p${i}`, { client: http });
      assert.equal(await response.text(), `/p${i}`);
    }));
    http.close();
    await until("all connections closed", () => server.connectionCount === 0);
  });
});

Deno.test("a client that goes away aborts its request", async () => {
  const seen = deferred<void>();
  const aborted = deferred<void>();
  await withListener(async (request) => {
    request.signal.addEventListener("abort", () => aborted.resolve());
    seen.resolve();
    await aborted.promise;
    return new Response("nobody reads this");
  }, async ({ port }) => {
    using client = new RawClient(port);
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await seen.promise;
    client.socket.destroy();
    await within("the abort", aborted.promise);
  });
});

Deno.test("a body cut short is an error to the handler, never a whole body", async () => {
  const outcome = deferred<string>();
  await withListener(async (request) => {
    outcome.resolve(await request.text().then(() => "whole", () => "broken"));
    return new Response();
  }, async ({ port }) => {
    using client = new RawClient(port);
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
    await sleep(30);
    client.socket.destroy();
    assert.equal(await within("the handler's body", outcome.promise), "broken");
  });
});

Deno.test("a body still being read after the answer is an error, never a whole body", async () => {
  const outcome = deferred<string>();
  await withListener((request) => {
    request.text().then(() => outcome.resolve("whole"), () => outcome.resolve("broken"));
    return new Response("answered early");
  }, async ({ port }) => {
    using client = new RawClient(port);
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
    await client.expect("answered early");
    assert.equal(await within("the handler's body", outcome.promise), "broken");
  });
});
