/** Every command of `grid`: the one place that names them. */
import { commands } from "./arguments.ts";

const repo = { summary: "a registered repo" } as const;
const number = { summary: "its number" } as const;
const limit = { kind: "count", value: "N", summary: "at most N (30)" } as const;
const workspace = { summary: "<repo>/<name>, or the name alone when it is unique" } as const;
const username = { summary: "the user" } as const;
const passwordStdin = {
  kind: "boolean",
  summary: "read the password from standard input, as is done without a terminal",
} as const;

export const commandTable = commands({
  "up": {
    summary: "Run a bridge and local ships until Ctrl-C",
    flags: {
      config: { kind: "text", value: "FILE", summary: "grid.json with the bridge and the ships" },
      port: { kind: "count", value: "PORT", summary: "the bridge's port (4800)" },
      "ship-port": { kind: "count", value: "PORT", summary: "the first ship's port (4700)" },
      "grid-directory": { kind: "text", value: "DIR", summary: "where workspaces live (~/grid)" },
      verbose: { kind: "boolean", summary: "show what the daemons log, not only warnings" },
    },
    examples: ["grid up", "grid up --config grid.json"],
  },
  "demo": {
    summary: "A whole grid in a temporary directory, to look at",
    flags: {
      once: { kind: "boolean", summary: "show the tour and end" },
      keep: { kind: "boolean", summary: "leave the temporary directory" },
    },
    examples: ["grid demo --once"],
  },
  "status": { summary: "The bridge, its ships and their hosts at a glance" },
  "ship ls": { summary: "List the ships" },
  "ship add": {
    summary: "Register the ship that answers at a URL",
    positionals: { url: { summary: "such as http://127.0.0.1:4700" } },
    examples: [
      "grid ship add http://127.0.0.1:4700",
      "GRID_REGISTER_BRIDGE_TOKEN=… GRID_REGISTER_SHIP_TOKEN=… grid ship add http://host:4700",
    ],
  },
  "ship rm": {
    summary: "Take a ship off the roster; its workspaces stay on its host",
    positionals: { name: { summary: "the ship" } },
  },
  "repo ls": { summary: "List the repos" },
  "repo add": {
    summary: "Register a repo under a name",
    positionals: {
      name: { summary: "what to call it" },
      url: { summary: "what git clones: https, ssh, git, file, or an absolute path" },
    },
    flags: {
      provider: { kind: "text", value: "NAME", summary: "its forge, such as github (custom)" },
    },
    examples: ["grid repo add web https://github.com/example/web.git --provider github"],
  },
  "repo rm": {
    summary: "Forget a repo; workspaces cloned from it stay",
    positionals: { name: { summary: "the repo" } },
  },
  "repo branches": {
    summary: "List the branches of a repo's remote",
    positionals: { name: { summary: "the repo" } },
  },
  "issue ls": {
    summary: "List the issues of a repo",
    positionals: { repo },
    flags: {
      state: { kind: "text", value: "STATE", summary: "open (default), closed or all" },
      label: { kind: "text", value: "A,B", summary: "only those with every label" },
      limit,
    },
  },
  "issue show": { summary: "One issue in full", positionals: { repo, number } },
  "pr ls": {
    summary: "List the pull requests of a repo",
    positionals: { repo },
    flags: {
      state: { kind: "text", value: "STATE", summary: "open (default), closed, merged or all" },
      head: { kind: "text", value: "BRANCH", summary: "only those made from this branch" },
      limit,
    },
  },
  "pr show": { summary: "One pull request in full", positionals: { repo, number } },
  "checks": {
    summary: "The checks of a branch, commit or pull request",
    positionals: {
      target: { summary: "<repo>/<workspace> for its branch, or <repo> with a flag" },
    },
    flags: {
      ref: { kind: "text", value: "REF", summary: "a branch, tag or commit" },
      pull: { kind: "count", value: "N", summary: "a pull request's head" },
      logs: { kind: "boolean", summary: "the logs of the jobs that failed" },
      tail: { kind: "count", value: "LINES", summary: "lines of each log (200)" },
    },
    examples: ["grid checks web/fix-login", "grid checks web --pull 12 --logs"],
  },
  "sweep": { summary: "Delete ephemeral workspaces whose pull requests are done, now" },
  "new": {
    summary: "Create a workspace",
    positionals: {
      repo,
      name: { summary: "what to call it (with --issue: issue-N)", optional: true },
    },
    flags: {
      ship: { kind: "text", value: "NAME", summary: "where (default: the only online ship)" },
      branch: { kind: "text", value: "BRANCH", summary: "what to check out (default: <name>)" },
      issue: { kind: "count", value: "N", summary: "on a branch made for and linked to issue N" },
      ephemeral: { kind: "boolean", summary: "with --issue: delete it once its work is merged" },
    },
    examples: [
      "grid new web --issue 12 --ephemeral",
      "grid new web fix-login",
      "grid new web fix-login --ship aurora --branch main",
    ],
  },
  "ls": {
    summary: "List the workspaces",
    flags: {
      active: { kind: "boolean", summary: "only those with a session" },
      inactive: { kind: "boolean", summary: "only those without" },
    },
  },
  "show": { summary: "One workspace in full", positionals: { workspace } },
  "diff": {
    summary: "What changed in a workspace",
    positionals: { workspace, paths: { summary: "only these paths", many: true } },
    flags: {
      staged: { kind: "boolean", summary: "what is staged" },
      stat: { kind: "boolean", summary: "a summary per file" },
      "name-only": { kind: "boolean", summary: "only the names of the files" },
      range: { kind: "text", value: "A..B", summary: "between two commits" },
      untracked: { kind: "boolean", summary: "with files that git does not track yet" },
    },
    examples: ["grid diff web/fix-login --stat", "grid diff fix-login -- src/login.ts"],
  },
  "activate": { summary: "Start a workspace's session", positionals: { workspace } },
  "deactivate": { summary: "End a workspace's session", positionals: { workspace } },
  "attach": {
    summary: "Show a session in this terminal; Ctrl-\\ leaves it running",
    positionals: { workspace },
    flags: { "read-only": { kind: "boolean", summary: "only look" } },
    examples: ["grid attach web/fix-login"],
  },
  "capture": {
    summary: "Print what a session's screen shows",
    positionals: { workspace },
    flags: {
      ansi: { kind: "boolean", summary: "with colours" },
      cols: { kind: "count", value: "N", summary: "width of the screen meanwhile (80)" },
      rows: { kind: "count", value: "N", summary: "height of the screen meanwhile (24)" },
    },
    examples: ["grid capture fix-login", "grid capture fix-login --json"],
  },
  "switch": {
    summary: "Switch to a branch, created when it is missing",
    positionals: { workspace, branch: { summary: "the branch" } },
  },
  "rm": {
    summary: "Delete a workspace, whatever it holds",
    positionals: { workspace },
    flags: { yes: { kind: "boolean", summary: "do not ask" } },
  },
  "armory status": { summary: "What each ship has installed of the armory" },
  "armory files": { summary: "What the armory holds" },
  "events": {
    summary: "Follow what happens to the workspaces",
    flags: {
      limit: { kind: "count", value: "N", summary: "end after N events" },
    },
  },
  "login": {
    summary: "Sign in at the bridge; the session is kept for 30 days",
    flags: {
      username: { kind: "text", value: "NAME", summary: "who (asked for on a terminal)" },
      "password-stdin": passwordStdin,
    },
    examples: ["grid login", "grid login --username ada --password-stdin < password-file"],
  },
  "logout": { summary: "End the session, here and at the bridge" },
  "whoami": { summary: "Who you are to the bridge" },
  "user ls": { summary: "List the users (admins)" },
  "user add": {
    summary: "Add a user, with a password that is asked for (admins)",
    positionals: { username, email: { summary: "name@host" } },
    flags: {
      admin: { kind: "boolean", summary: "an admin, not a member" },
      "password-stdin": passwordStdin,
    },
    examples: ["grid user add mia mia@example.com"],
  },
  "user rm": {
    summary: "Delete a user and end their sessions (admins)",
    positionals: { username },
  },
  "user role": {
    summary: "Make a user a member or an admin (admins)",
    positionals: {
      username,
      role: { summary: "member or admin", oneOf: ["member", "admin"] },
    },
  },
  "user passwd": {
    summary: "Change a password: your own, or as an admin anybody's",
    positionals: { username: { summary: "whose (default: yours)", optional: true } },
    flags: {
      "password-stdin": {
        kind: "boolean",
        summary: "read lines of standard input: the current password if yours, then the new one",
      },
    },
  },
  "user email": {
    summary: "Change an email: your own, or as an admin anybody's",
    positionals: { username, email: { summary: "name@host" } },
  },
  "version": { summary: "The version of grid" },
  "completion": {
    summary: "Print a completion script",
    positionals: {
      shell: { summary: "bash, zsh or fish", oneOf: ["bash", "zsh", "fish"] },
    },
    examples: ["source <(grid completion bash)", "grid completion fish | source"],
  },
});

export type CommandName = keyof typeof commandTable;
