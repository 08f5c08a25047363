/** The sample repository of `grid demo`: bare, with a short history and two branches. */
import { join } from "node:path";
import { CommandLane, type Programs } from "../../shared/host/command.ts";
import type { TemporaryDirectory } from "../../shared/host/machine.ts";
import { CliFailure } from "../cli/failure.ts";

const gitMs = 30_000;

const files = {
  "README.md": "# Shop\n\nA shop that sells one thing.\n",
  "src/cart.ts": "export function total(prices: number[]): number {\n" +
    "  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
  "src/search.ts": "export function search(names: string[], term: string): string[] {\n" +
    "  return names.filter((name) => name.includes(term));\n}\n",
} as const;

/** Makes it below `directory` with real git and gives its path, which git can clone. */
export async function makeSampleRepo(
  directory: TemporaryDirectory,
  programs: Programs,
  searchPath: string,
): Promise<string> {
  const bare = join(directory.path, "shop.git");
  const work = await directory.directory("shop-source");
  const git = gitRunner(work, programs, {
    PATH: searchPath,
    HOME: directory.path,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
  });
  await git("init", "--quiet", "--initial-branch=main");
  for (const [name, text] of Object.entries(files)) {
    await directory.write(join("shop-source", name), text);
    await git("add", "--all");
    await git("commit", "--quiet", "--message", `Add ${name}`);
  }
  await git("branch", "release");
  await git("clone", "--quiet", "--bare", "--", work, bare);
  return bare;
}

function gitRunner(cwd: string, programs: Programs, environment: Record<string, string>) {
  const lane = new CommandLane({
    programs,
    timeoutPath: programs["timeout"] ?? "timeout",
    environment,
    concurrencyMax: 1,
    queueMax: 1,
  });
  return async (...args: string[]) => {
    const { code, stderr } = await lane.run("git", args, { cwd, timeoutMs: gitMs });
    if (code !== 0) throw new CliFailure(`git ${args[0]} failed: ${stderr.trim()}`);
  };
}

/** Ends the tmux server of a demo ship: its sessions are nobody's once the demo is over. */
export async function endTmuxServer(
  programs: Programs,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const lane = new CommandLane({
    programs,
    timeoutPath: programs["timeout"] ?? "timeout",
    environment,
    concurrencyMax: 1,
    queueMax: 1,
  });
  // No server is as good as an ended one: the exit code does not matter.
  await lane.run("tmux", ["-L", "grid-ship", "kill-server"], { timeoutMs: gitMs });
}
