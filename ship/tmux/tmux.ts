/** The ship's tmux server: one session per active workspace. */
import { fail } from "../../shared/errors.ts";
import type { CommandLane, RunOptions } from "../../shared/host/command.ts";
import { type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import { startCommands } from "./commands.ts";
import { sessionName, socketNameDefault } from "./names.ts";
import { judge, type Outcome, panesFormat, parseLiveSessions } from "./parse.ts";

export interface TmuxOptions {
  /**
   * Runs `tmux`. Its environment is the server's and the base of every session's, so it must hold no
   * secret; `TMUX_TMPDIR` in it moves the socket.
   */
  readonly lane: CommandLane;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  /** What a new session runs, as a shell command line; null for the shell itself. */
  readonly sessionCommand: string | null;
  /** Default: `grid-ship`. */
  readonly socketName?: string;
}

const callMs = 10_000;
/** A server that is just ending after its last session refuses a start; the next try starts another. */
const startTriesMax = 5;

/** Sessions on a private tmux server. Constructing it touches nothing; the server outlives the ship. */
export class TmuxSessions {
  constructor(private readonly options: TmuxOptions) {}

  /** Names of the sessions in which something runs; empty when no server does. Throws `commandFailed`. */
  async names(): Promise<ReadonlySet<string>> {
    const { outcome, stdout } = await this.#call(["list-panes", "-a", "-F", panesFormat]);
    switch (outcome.kind) {
      case "ok":
        return parseLiveSessions(stdout);
      case "noServer":
      case "noSession":
        return new Set();
      case "duplicate":
        throw commandFailed("list-panes", outcome.kind);
      case "failed":
        throw commandFailed("list-panes", outcome.reason);
    }
  }

  /** The session name of a workspace, whether or not it has a session. */
  nameOf(id: WorkspaceId): Promise<string> {
    return sessionName(id);
  }

  /**
   * Starts the workspace's session in `directory` with `environment` on top of the lane's. Throws
   * `workspaceAlreadyActive` when it runs, `commandFailed` when tmux cannot.
   */
  async start(
    id: WorkspaceId,
    directory: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<void> {
    const name = await sessionName(id);
    const stdin = startCommands({ ...this.options, sessionName: name, environment });
    for (let tries = 1;; tries += 1) {
      // The working directory of the call becomes the session's; PWD only tells tmux how it is spelled.
      const { outcome } = await this.#call(["start-server", ";", "source-file", "-"], {
        stdin,
        cwd: directory,
        env: { PWD: directory },
      });
      switch (outcome.kind) {
        case "ok":
          return;
        case "duplicate":
          if (tries >= startTriesMax || (await this.names()).has(name)) {
            throw fail("workspaceAlreadyActive", id);
          }
          // All its panes are dead: nobody works there, so it makes room.
          await this.stop(id);
          break;
        case "noServer":
          if (tries >= startTriesMax) {
            throw commandFailed("new-session", "the server keeps exiting");
          }
          break;
        case "noSession":
        case "failed":
          // tmux goes on after a command that failed: what it started regardless must not stay.
          await this.stop(id).catch(() => {});
          throw commandFailed(
            `new-session for ${workspaceKey(id)}`,
            outcome.kind === "failed" ? outcome.reason : outcome.kind,
          );
      }
    }
  }

  /** Ends the workspace's session; fine when there is none. Throws `commandFailed`. */
  async stop(id: WorkspaceId): Promise<void> {
    // `=` and the colon make the target exact: a bare name also matches as a prefix.
    const target = `=${await sessionName(id)}:`;
    const { outcome } = await this.#call(["kill-session", "-t", target]);
    switch (outcome.kind) {
      case "ok":
      case "noServer":
      case "noSession":
        return;
      case "duplicate":
        throw commandFailed("kill-session", outcome.kind);
      case "failed":
        throw commandFailed("kill-session", outcome.reason);
    }
  }

  async #call(
    args: readonly string[],
    options: Omit<RunOptions, "timeoutMs"> = {},
  ): Promise<{ readonly outcome: Outcome; readonly stdout: string }> {
    const socketName = this.options.socketName ?? socketNameDefault;
    const all = ["-L", socketName, "-f", "/dev/null", ...args];
    const result = await this.options.lane.run("tmux", all, { timeoutMs: callMs, ...options });
    return { outcome: judge(result), stdout: new TextDecoder().decode(result.stdout) };
  }
}

const commandFailed = (what: string, reason: string) =>
  fail("commandFailed", { what: `tmux ${what}`, reason });
