/**
 * The command list that starts a session, as text for `tmux source-file -`. Pure.
 *
 * It travels over standard input because everything that stands on the command line of the call that
 * happens to start the server stays readable in `/proc/<server>/cmdline` for as long as the server lives.
 */

/** A session to start. */
export interface SessionStart {
  readonly sessionName: string;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  /** A shell command line for the first window; null runs the shell as a login shell. */
  readonly sessionCommand: string | null;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Options of our server, set anew with every start: that way a server left by an older ship is brought
 * up to date. The user's own `~/.tmux.conf` is not read (`-f /dev/null`): it may run programs, rename
 * sessions or destroy unattached ones, and the ship relies on none of that happening.
 *
 * `remain-on-exit` stays off: a session whose shell has exited vanishes and the workspace turns
 * inactive. Whoever turns it on in a session by hand changes nothing of that: `parseLiveSessions` does
 * not count sessions that hold dead panes only.
 */
const options = [
  // tmux logs each command, `-e` values with it; anyone attached could read them (`show-messages`).
  "set -s message-limit 0",
  "set -s exit-empty on",
  "set -s escape-time 10",
  "set -s set-clipboard on",
  "set -s focus-events on",
  "set -s default-terminal tmux-256color",
  // Otherwise a client that attaches takes variables it lacks out of the session again.
  'set -g update-environment ""',
  "set -g destroy-unattached off",
  "set -g detach-on-destroy on",
  "set -g status off",
  "set -g mouse on",
  "set -g set-titles on",
  "set -g history-limit 10000",
  "set -g remain-on-exit off",
];

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The command list, one command a line. Throws on a variable name that no shell could read: our mistake. */
export function startCommands(start: SessionStart): string {
  const variables = Object.entries(start.environment).map(([name, value]) => {
    if (!variableName.test(name)) throw new Error(`not a variable name: ${name}`);
    return ` -e ${quote(`${name}=${value}`)}`;
  });
  const command = start.sessionCommand === null ? "" : ` -- ${quote(start.sessionCommand)}`;
  return [
    ...options,
    `set -g default-shell ${quote(start.shell)}`,
    // tmux puts the directory of whoever started the server there; every pane gets its own.
    "set-environment -g -u PWD",
    // No -c: tmux would expand it as a format. The session takes over the working directory of the call.
    `new-session -d -E -s ${quote(start.sessionName)}${variables.join("")}${command}`,
    "",
  ].join("\n");
}

/**
 * `text` as one tmux word: in double quotes, with every byte that is not plainly harmless as `\ooo`
 * (tmux.1, PARSING SYNTAX), so that no quote, `$`, `;`, newline or format character is ever read.
 */
export function quote(text: string): string {
  if (text.includes("\0")) throw new Error("text for tmux must not contain NUL");
  let quoted = "";
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    quoted += /[A-Za-z0-9_./:=@+,-]/.test(character)
      ? character
      : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `"${quoted}"`;
}
