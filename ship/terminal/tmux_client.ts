/**
 * What this program knows about being a tmux client, as argument vectors (pure). Seen on tmux 3.3a and
 * util-linux 2.38.
 */
import type { Size } from "./screen.ts";

/** What the outer terminal can do: everything the emulator and the frames carry. */
const features = "256,RGB,usstyle,overline,strikethrough,cstyle,title,clipboard,focus,mouse,sync";

/**
 * An underline's colour with the empty colour space that ITU-T T.416 puts before the parts; tmux 3.3
 * leaves it out. `::` is a colon here. The index keeps a second attach from adding it twice.
 */
const underlineColorOverride = [
  "terminal-overrides[4700]",
  "*:Setulc=\\E[58::2::::%p1%{65536}%/%d::%p1%{256}%/%{255}%&%d::%p1%{255}%&%d%;m",
];

const sessionNameForm = /^ws-[0-9a-f]{64}$/;
const socketNameForm = /^[A-Za-z0-9_-]{1,64}$/;
const pathForm = /^\/[A-Za-z0-9_./+-]+$/;

/** The session to attach to and the programs to do it with; every value is ours, none a stranger's. */
export interface SessionAddress {
  readonly sessionName: string;
  readonly socketName: string;
  readonly tmuxPath: string;
  readonly scriptPath: string;
}

/** Throws when a value could not stand in a command line as it is: our own mistake. */
export function assertAddress(address: SessionAddress): void {
  const holds = sessionNameForm.test(address.sessionName) &&
    socketNameForm.test(address.socketName) && pathForm.test(address.tmuxPath) &&
    pathForm.test(address.scriptPath);
  if (!holds) throw new Error(`not a session address: ${JSON.stringify(address)}`);
}

/** The session of exactly this name; the colon lets commands that want a pane take its active one. */
const target = (address: SessionAddress) => `=${address.sessionName}:`;
/** `-N`: never start a server that is not there. */
const base = (address: SessionAddress) => ["-N", "-L", address.socketName];

/**
 * A session's shell command, wrapped so that the terminal learns its exit code: tmux clients exit 0 for
 * every session that ended. When `command` ends in the last pane of its session, the clients are told to
 * replace themselves by `exit <code>`, and then the session ends. (`remain-on-exit` with a `pane-died`
 * hook would need no wrapper, but with utempter tmux 3.3a loses every third SIGCHLD of a pane that stays,
 * and the session stays for ever.) `command` is a line for `sh`; a session without this wrapper works
 * and exits 0.
 */
export function reportingCommand(command: string, tmuxPath: string): string {
  const isLast = "#{&&:#{==:#{window_panes},1},#{==:#{session_windows},1}}";
  return `sh -c ${quoted(command)}; code=$?; ` +
    `'${tmuxPath}' if-shell -F -t "$TMUX_PANE" '${isLast}' ` +
    `"detach-client -s $TMUX_PANE -E 'exit $code'" 2>/dev/null; exit $code`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Arguments for tmux that prepare a session to be shown. Session options keep what somebody set. */
export function prepareArguments(address: SessionAddress): string[] {
  const session = (option: string, value: string) => [
    ...["set-option", "-qo", "-t", target(address), option, value, ";"],
  ];
  return [
    ...base(address),
    ...["set-option", "-s", "escape-time", "10", ";"],
    ...["set-option", "-s", "set-clipboard", "on", ";"],
    ...["set-option", "-s", ...underlineColorOverride, ";"],
    ...session("status", "off"),
    ...session("mouse", "on"),
    ...session("set-titles", "on"),
    ...session("set-titles-string", "#{pane_title}"),
    ...["has-session", "-t", target(address)],
  ];
}

/**
 * Arguments for `sh` that attach under a PTY of `script`. The PTY's name comes on standard error (not on
 * the PTY: tmux begins with flushing what was written to it).
 *
 * `script` answers the end of its input with ^D, which would end the shell in the session when this
 * process is killed. So `cat` stands before it, and the end of `cat`'s input kills the whole process
 * group before `script` can see it; the tmux client, in a session of its own, gets the hangup. The exit
 * code comes on standard error, because the group is killed at the normal end too (`cat` would wait).
 */
export function attachArguments(address: SessionAddress, size: Size): string[] {
  const attach = [
    ...[address.tmuxPath, "-u", "-T", features, ...base(address)],
    ...["attach-session", "-t", target(address)],
  ];
  const inner = `stty raw -echo rows ${size.rows} cols ${size.cols}; tty >&3; ` +
    `exec ${attach.join(" ")} 3>&-`;
  const outer = `{ trap '' TERM; cat; kill -KILL 0; } | ` +
    `{ '${address.scriptPath}' -qefc "$1" /dev/null 3>&2; echo "$?" >&2; kill -KILL 0; }`;
  return ["-c", outer, "grid-attach", inner];
}

/**
 * Arguments for `sh`: a silent client in control mode, through which a redraw can be asked for. Its
 * group is killed at the end of its input too: a control client whose reader is gone never exits, and
 * keeps a dying server alive.
 */
export function sideClientArguments(address: SessionAddress): string[] {
  const client = [
    ...[address.tmuxPath, ...base(address), "-C"],
    ...["attach-session", "-t", target(address), "-f", "no-output,ignore-size"],
  ];
  return [
    "-c",
    `{ trap '' TERM; cat; kill -KILL 0; } | { ${client.join(" ")}; kill -KILL 0; }`,
    "grid-side",
  ];
}

/** Arguments for `stty`: the kernel tells tmux of the new size. */
export function resizeArguments(tty: string, size: Size): string[] {
  return ["-F", tty, "rows", String(size.rows), "cols", String(size.cols)];
}

const ttyForm = /^\/dev\/(?:pts\/\d+|ttys\d+)$/m;

/** The PTY's name, when `stderr` has it on a line of its own. */
export function ttyOf(stderr: string): string | null {
  const whole = stderr.slice(0, stderr.lastIndexOf("\n") + 1);
  return ttyForm.exec(whole)?.[0] ?? null;
}

/** The exit code that the attaching shell wrote last; 1 when it could not. */
export function exitCodeOf(stderr: string): number {
  const last = /(\d{1,3})\s*$/.exec(stderr)?.[1];
  const code = last === undefined ? 1 : Number(last);
  return code > 255 ? 1 : code;
}
