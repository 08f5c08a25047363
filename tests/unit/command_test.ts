import assert from "node:assert/strict";
import { CommandLane } from "../../shared/host/command.ts";
import { findProgram } from "../../shared/host/files.ts";
import { Failure } from "../../shared/errors.ts";

const path = Deno.env.get("PATH") ?? "";
const program = async (name: string) => await findProgram(name, path) ?? "";
const lane = async (concurrencyMax = 4, queueMax = 8) =>
  new CommandLane({
    programs: { sh: await program("sh"), cat: await program("cat"), env: await program("env") },
    timeoutPath: await program("timeout"),
    environment: { PATH: path, GIVEN: "yes" },
    concurrencyMax,
    queueMax,
  });
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("output, code and standard error come back", async () => {
  const result = await (await lane()).run("sh", ["-c", "echo out; echo err >&2; exit 3"], {
    timeoutMs: 10_000,
  });
  assert.deepEqual(
    [result.ending, result.code, text(result.stdout), result.stderr],
    ["exited", 3, "out\n", "err\n"],
  );
});

Deno.test("the environment is the lane's and the call's, nothing else", async () => {
  const result = await (await lane()).run("env", [], { timeoutMs: 10_000, env: { MORE: "too" } });
  const names = text(result.stdout).trim().split("\n").map((line) => line.split("=")[0]).sort();
  assert.deepEqual(names, ["GIVEN", "MORE", "PATH"]);
});

Deno.test("standard input arrives whole", async () => {
  const input = "x".repeat(1_000_000);
  const result = await (await lane()).run("cat", [], { timeoutMs: 10_000, stdin: input });
  assert.equal(text(result.stdout), input);
});

Deno.test("a time limit ends the program and its children", async () => {
  const result = await (await lane()).run("sh", ["-c", "sleep 600 & echo $!; wait"], {
    timeoutMs: 300,
  });
  assert.equal(result.ending, "timeout");
  await gone(Number(text(result.stdout)));
});

Deno.test("aborting ends the whole group, even one that ignores TERM", async () => {
  const stop = new AbortController();
  const running = await (await lane()).start(
    "sh",
    ["-c", "trap '' TERM; sleep 600 & echo $!; while :; do sleep 1; done"],
    { timeoutMs: 60_000, signal: stop.signal },
  );
  const reader = running.stdout.getReader();
  const child = Number(text((await reader.read()).value ?? new Uint8Array()));
  stop.abort();
  reader.releaseLock();
  await running.stdout.cancel();
  assert.equal((await running.done).ending, "aborted");
  await gone(child);
});

Deno.test("too much output ends the program", async () => {
  const result = await (await lane()).run("sh", ["-c", "while :; do echo aaaaaaaaaaaaaaaa; done"], {
    timeoutMs: 30_000,
    stdoutBytesMax: 100_000,
  });
  assert.equal(result.ending, "overflow");
  assert.ok(result.stdout.length <= 100_000);
});

Deno.test("[tooBusy] no more than the bound run at once, and the queue is bounded", async () => {
  const small = await lane(1, 1);
  const stop = new AbortController();
  const first = small.run("sh", ["-c", "sleep 600"], { timeoutMs: 60_000, signal: stop.signal });
  const second = small.run("sh", ["-c", "echo second"], { timeoutMs: 60_000 });
  await assert.rejects(
    small.run("sh", ["-c", "echo third"], { timeoutMs: 60_000 }),
    (thrown) => thrown instanceof Failure && thrown.code === "tooBusy",
  );
  stop.abort();
  assert.equal((await first).ending, "aborted");
  assert.equal(text((await second).stdout), "second\n");
});

/** Waits, within a bound, until no process has `pid`. */
async function gone(pid: number): Promise<void> {
  assert.ok(pid > 1, "the child said its pid");
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => null);
    if (status === null || /^State:\s+Z/m.test(status)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`process ${pid} lives on`);
}
