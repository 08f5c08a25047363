/** A grid directory with real git, for tests of the ship's workspaces. */
import { CommandLane } from "../../shared/host/command.ts";
import { moverPrograms } from "../../ship/workspace/anchored_move.ts";
import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { Failure, type FailureCode } from "../../shared/errors.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { type CloneProtocol, cloneProtocols } from "../../shared/git/url.ts";
import type { WorkspaceId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import { createGitLanes, Git, type GitLanes } from "../../ship/git/git.ts";
import type { WorkspaceEvent } from "../../ship/workspace/ports.ts";
import { Workspaces } from "../../ship/workspace/workspaces.ts";
import { MemoryAgents, MemorySessions, MemoryTokens } from "./memory_sessions.ts";

export const gitPath = "/usr/bin/git";
export const timeoutPath = "/usr/bin/timeout";

const author = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.invalid",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.invalid",
};

/** Runs git for a test's own ends; throws when it fails. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(gitPath, {
    args: ["-c", "init.defaultBranch=main", ...args],
    cwd: directory,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", ...author },
  }).output();
  if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

export interface Grid extends AsyncDisposable {
  readonly root: string;
  readonly gridDirectory: string;
  /** A bare repository: branches main, feat/x and other, the tag v1 off every branch. */
  readonly remote: string;
  readonly workspaces: Workspaces;
  readonly sessions: MemorySessions;
  readonly agents: MemoryAgents;
  readonly tokens: MemoryTokens;
  readonly events: WorkspaceEvent[];
  readonly lanes: GitLanes;
}

export interface GridOptions {
  readonly protocols?: readonly CloneProtocol[];
  /** Stands in for git, such as a recorder; given the temporary directory. */
  readonly gitProgram?: (root: string) => Promise<string>;
}

export async function makeGrid(options: GridOptions = {}): Promise<Grid> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-ws-" }));
  const gridDirectory = join(root, "grid");
  const home = join(root, "home");
  await Deno.mkdir(gridDirectory);
  await Deno.mkdir(home);
  const remote = await makeRemote(root);
  const program = await options.gitProgram?.(root) ?? gitPath;
  const lanes = createGitLanes({
    programs: { git: program },
    timeoutPath,
    environment: { PATH: "/usr/bin:/bin", HOME: home },
  });
  const git = new Git({ lanes, protocols: options.protocols ?? cloneProtocols });
  const hub = new EventHub<WorkspaceEvent>();
  const events: WorkspaceEvent[] = [];
  const subscription = hub.subscribe((event) => events.push(event));
  const sessions = new MemorySessions();
  const agents = new MemoryAgents();
  const tokens = new MemoryTokens();
  const workspaces = new Workspaces({
    gridDirectory,
    shipName: parseIdentifier("ship", "ark"),
    git,
    moveLane: new CommandLane({
      programs: moverPrograms,
      timeoutPath,
      environment: { PATH: "/usr/bin:/bin" },
      concurrencyMax: 4,
      queueMax: 64,
    }),
    sessions,
    agents,
    tokens,
    events: hub,
    mcpUrl: (id) => `http://127.0.0.1:1/workspaces/${id.repoName}/${id.name}/mcp`,
    clock: systemClock,
    log: silentLog,
  });
  return {
    root,
    gridDirectory,
    remote,
    workspaces,
    sessions,
    agents,
    tokens,
    events,
    lanes,
    async [Symbol.asyncDispose]() {
      subscription[Symbol.dispose]();
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** A bare repository below `root`: branches main, feat/x and other, the tag v1 off every branch. */
export async function makeRemote(root: string): Promise<string> {
  const work = join(root, "seed");
  const bare = join(root, "remote.git");
  await Deno.mkdir(work);
  await git(work, "init", "-q");
  await Deno.writeTextFile(join(work, "README"), "one\ntwo\n");
  await git(work, "add", ".");
  await git(work, "commit", "-qm", "first");
  await git(work, "branch", "feat/x");
  await git(work, "branch", "other");
  await git(work, "checkout", "-q", "--detach");
  await git(work, "commit", "-qm", "released", "--allow-empty");
  await git(work, "tag", "v1");
  await git(work, "checkout", "-q", "main");
  await git(root, "clone", "-q", "--bare", work, bare);
  return bare;
}

export function idOf(repoName: string, name: string): WorkspaceId {
  return {
    repoName: parseIdentifier("repo", repoName),
    name: parseIdentifier("workspace", name),
  };
}

/** The failure that `work` ends in; throws when it succeeds, fails otherwise or has another code. */
export async function failureOf(
  code: FailureCode,
  work: () => Promise<unknown>,
): Promise<Failure> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === code) return thrown;
    throw thrown;
  }
  throw new Error(`should have failed with ${code}`);
}

export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

export async function textOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return await new Response(stream).text();
}
