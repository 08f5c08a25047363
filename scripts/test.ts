/**
 * The test suite: `deno task test [paths or flags]`. Runs every test in a private temporary directory, then
 * looks for what the tests left behind: a file in it, or a process that still belongs to it. Ends with the
 * line `N passed, N failed`.
 */
import { join } from "node:path";
import { preflight } from "../bridge/launch/preflight.ts";

const summary = /(\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \([^)]*\))?(?: \| (\d+) ignored)?/;
// deno-lint-ignore no-control-regex -- colour codes are what is taken out
const colour = /\u001b\[[0-9;]*m/g;

const { problems } = await preflight(Deno.env.get("PATH") ?? "");
if (problems.length > 0) {
  console.error(problems.join("\n"));
  console.log("0 passed, 1 failed");
  Deno.exit(1);
}

const base = await Deno.makeTempDir({ prefix: "grid-tests-" });
const run = await runTests(base);
const left = [...await leftProcesses(base), ...await leftFiles(base)];
for (const line of left) console.error(`left behind: ${line}`);
await Deno.remove(base, { recursive: true });
const failed = run.failed + left.length + (run.code !== 0 && run.failed === 0 ? 1 : 0);
const skipped = run.ignored === 0 ? "" : `, ${run.ignored} skipped`;
console.log(`${run.passed} passed, ${failed} failed${skipped}`);
Deno.exit(failed === 0 ? 0 : 1);

interface Run {
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

async function runTests(directory: string): Promise<Run> {
  const given = Deno.args.length > 0 ? Deno.args : ["tests"];
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--cached-only", "--config", "tests/deno.json"],
      ...["--sanitize-ops", "--sanitize-resources", ...given],
    ],
    env: { TMPDIR: directory, NO_COLOR: Deno.stdout.isTerminal() ? "" : "1" },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    await Deno.stdout.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4096);
  }
  const { code } = await child.status;
  const found = [...tail.replace(colour, "").matchAll(new RegExp(summary, "g"))].at(-1);
  return {
    code,
    passed: Number(found?.[1] ?? 0),
    failed: Number(found?.[2] ?? 0),
    ignored: Number(found?.[3] ?? 0),
  };
}

/** Processes whose command line, directory or environment names the tests' directory. Linux only. */
async function leftProcesses(directory: string): Promise<string[]> {
  if (Deno.build.os !== "linux") return [];
  // A child that was just told to end may need a moment.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if ((await processesOf(directory)).length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return await processesOf(directory);
}

async function processesOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === Deno.pid) continue;
    const [command, environment, cwd] = await Promise.all([
      Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => ""),
      Deno.readTextFile(`/proc/${name}/environ`).catch(() => ""),
      Deno.readLink(`/proc/${name}/cwd`).catch(() => ""),
    ]);
    if ([command, environment, cwd].some((text) => text.includes(directory))) {
      found.push(`process ${name}: ${command.replaceAll("\0", " ").trim()}`);
    }
  }
  return found;
}

async function leftFiles(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(directory)) found.push(`file ${join(directory, name)}`);
  return found;
}
