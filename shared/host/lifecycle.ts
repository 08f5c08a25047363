/**
 * The process itself: environment, arguments, signals, exit. Only this file and the two `config.ts` touch
 * them; features take values.
 */

/** One environment variable, or undefined when it is unset or empty. */
export function env(name: string): string | undefined {
  const value = Deno.env.get(name);
  return value === undefined || value === "" ? undefined : value;
}

/**
 * Reads a secret from the environment and takes it out of it, so that no child and no later reader of
 * `/proc/self/environ`-like views inside the process sees it.
 */
export function takeSecret(name: string): string | undefined {
  const value = env(name);
  if (value !== undefined) Deno.env.delete(name);
  return value;
}

/** The variables that children may have, as the decisions name them, with the values of this process. */
export function childEnvironment(): Record<string, string> {
  const named = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "SSH_AUTH_SOCK", "TMUX_TMPDIR"];
  const kept: Record<string, string> = {};
  for (const name of [...named, ...localeNames, ...xdgNames, ...proxyNames]) {
    const value = env(name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

const localeNames = [
  "LC_ALL",
  "LC_CTYPE",
  "LC_COLLATE",
  "LC_MESSAGES",
  "LC_MONETARY",
  "LC_NUMERIC",
  "LC_TIME",
];
const xdgNames = [
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_CACHE_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_DIRS",
];
const proxyNames = [
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
];

/** Every variable that `childEnvironment` may read: the daemons' `--allow-env` is made from it. */
export const childEnvironmentNames: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TERM",
  "SSH_AUTH_SOCK",
  "TMUX_TMPDIR",
  ...localeNames,
  ...xdgNames,
  ...proxyNames,
];

/** The arguments after the program's own. */
export function programArguments(): readonly string[] {
  return Deno.args;
}

/** Ends the process. */
export function exit(code: number): never {
  Deno.exit(code);
}

/**
 * One Ctrl-C comes several times: the terminal sends it to everybody, and `npx` and `deno task` pass theirs on.
 * Who means it presses again later.
 */
const sameKeystrokeMs = 1_000;

/** Calls `handler` on SIGINT and SIGTERM until disposed; a later SIGINT while it runs ends the process. */
export function onStop(handler: (signal: "SIGINT" | "SIGTERM") => void): Disposable {
  let askedMs: number | null = null;
  const listeners = (["SIGINT", "SIGTERM"] as const).map((signal) => {
    const listener = () => {
      const nowMs = performance.now();
      if (askedMs === null) {
        askedMs = nowMs;
        handler(signal);
      } else if (signal === "SIGINT" && nowMs - askedMs > sameKeystrokeMs) Deno.exit(130);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return {
    [Symbol.dispose]() {
      for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}

/** Calls `handler` whenever the terminal's size has changed, until disposed. */
export function onResize(handler: () => void): Disposable {
  return onSignal("SIGWINCH", handler);
}

/** Calls `handler` whenever the process goes on after it was stopped, until disposed. */
export function onResume(handler: () => void): Disposable {
  return onSignal("SIGCONT", handler);
}

/** Calls `handler` on SIGHUP until disposed. Not for daemons: it would undo `nohup`. */
export function onHangup(handler: () => void): Disposable {
  return onSignal("SIGHUP", handler);
}

/** Whether this process was started to outlive its terminal (`nohup`), as Linux tells it (proc(5), SigIgn). */
export function ignoresHangup(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))
      ?.[1];
    return ignored !== undefined && (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    // Not Linux.
    return false;
  }
}

function onSignal(signal: Deno.Signal, handler: () => void): Disposable {
  Deno.addSignalListener(signal, handler);
  return { [Symbol.dispose]: () => Deno.removeSignalListener(signal, handler) };
}

const debuggerAddress = { hostname: "127.0.0.1", port: 9229 };

const ignore = () => {};

/**
 * Keeps SIGUSR1 from ending the process (Deno takes the signal over only some time after the start) and
 * from opening Deno's debugger, which it does on 127.0.0.1:9229 whatever the permissions: the
 * port is held, and what connects to it is closed. `reusePort` lets every daemon of a host hold it at once;
 * the debugger asks for the port without it and fails. When a stranger holds the port, that shuts the
 * debugger out just as well for as long as it lasts.
 */
export function shutDebugger(): Disposable {
  Deno.addSignalListener("SIGUSR1", ignore);
  const listener = holdPort();
  return {
    [Symbol.dispose]() {
      listener?.close();
      Deno.removeSignalListener("SIGUSR1", ignore);
    },
  };
}

function holdPort(): Deno.TcpListener | null {
  let listener: Deno.TcpListener;
  try {
    listener = Deno.listen({ ...debuggerAddress, reusePort: true });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AddrInUse) return null;
    throw thrown;
  }
  void (async () => {
    for await (const connection of listener) connection.close();
  })().catch(() => {});
  return listener;
}

/** Writes a line to standard output at once. */
export function printLine(line: string): void {
  writeAllSync(Deno.stdout, `${line}\n`);
}

/** Writes a line to standard error at once; a reader that has gone away is no reason to die. */
export function printErrorLine(line: string): void {
  try {
    writeAllSync(Deno.stderr, `${line}\n`);
  } catch {
    // Nobody reads the log any more; the service goes on.
  }
}

function writeAllSync(target: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(target.writeSync(bytes));
}

export function stderrIsTerminal(): boolean {
  return Deno.stderr.isTerminal();
}
