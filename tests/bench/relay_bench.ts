import process from "node:process";
import { findProgram } from "../../shared/host/files.ts";
import { listen } from "../../shared/host/listen.ts";
import type { Figure } from "./figures.ts";

/** Requests per second through the relay and without it. */
export interface RelayBench {
  readonly relayPerSecond: number;
  readonly directPerSecond: number;
  /** relayPerSecond / directPerSecond. */
  readonly ratio: number;
}

const request = new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");

/**
 * Measures small GETs over kept-alive connections, client and server in one process, so the
 * numbers are low and only their ratio says much. Takes about three times `roundMs`.
 */
export async function relayBench(
  { roundMs = 1000, connections = 32 }: { roundMs?: number; connections?: number } = {},
): Promise<RelayBench> {
  const answer = () => new Response("ok");
  const relayed = await listen({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const direct = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await measure(direct.addr.port, { roundMs: roundMs / 2, connections });
    await measure(relayed.port, { roundMs: roundMs / 2, connections });
    const directPerSecond = await measure(direct.addr.port, { roundMs, connections });
    const relayPerSecond = await measure(relayed.port, { roundMs, connections });
    return { relayPerSecond, directPerSecond, ratio: relayPerSecond / directPerSecond };
  } finally {
    await relayed.shutdown();
    await direct.shutdown();
  }
}

/** The same comparison under `wrk`, a load generator of its own; nothing where it is not installed. */
export async function loadBench(): Promise<Figure[]> {
  const wrk = await findProgram("wrk", Deno.env.get("PATH") ?? "");
  if (wrk === null) return [];
  const answer = () => new Response("ok");
  const relayed = await listen({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const direct = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const load = async (port: number) => {
    const { stdout } = await new Deno.Command(wrk, {
      args: ["-t1", "-c32", "-d2s", `http://127.0.0.1:${port}/health`],
    }).output();
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(new TextDecoder().decode(stdout))?.[1]);
  };
  try {
    const alone = await load(direct.addr.port);
    const through = await load(relayed.port);
    return [
      { name: "under wrk: relay / Deno.serve alone", value: through / alone, unit: "ratio" },
      { name: "under wrk: through the relay", value: through, unit: "per second" },
      { name: "under wrk: Deno.serve alone", value: alone, unit: "per second" },
    ];
  } finally {
    await relayed.shutdown();
    await direct.shutdown();
  }
}

async function measure(
  port: number,
  { roundMs, connections }: { roundMs: number; connections: number },
): Promise<number> {
  const start = performance.now();
  const counts = await Promise.all(
    Array.from({ length: connections }, () => askUntil(port, start + roundMs)),
  );
  const seconds = (performance.now() - start) / 1000;
  return Math.round(counts.reduce((sum, count) => sum + count, 0) / seconds);
}

// The response is a few hundred bytes and comes in one read.
async function askUntil(port: number, deadline: number): Promise<number> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const buffer = new Uint8Array(4096);
  let count = 0;
  try {
    while (performance.now() < deadline) {
      await connection.write(request);
      if (await connection.read(buffer) === null) throw new Error("the server hung up");
      count++;
    }
  } finally {
    connection.close();
  }
  return count;
}

if (import.meta.main) {
  const { relayPerSecond, directPerSecond, ratio } = await relayBench();
  process.stdout.write(
    `requests per second: relay ${relayPerSecond}, Deno.serve alone ${directPerSecond}, ` +
      `ratio ${ratio.toFixed(2)}\n`,
  );
}
