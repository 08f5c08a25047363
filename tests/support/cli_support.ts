/** Runs the command line in process, with its streams collected. */
import type { CliIo, CliSettings } from "../../bridge/cli/context.ts";
import { type LaunchHandlers, runCli } from "../../bridge/cli/run.ts";

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Questions asked on the terminal. */
  readonly asked: readonly string[];
}

export interface CliRunOptions {
  readonly url?: string;
  readonly settings?: Partial<CliSettings>;
  /** Both ends a terminal; `answer` is what is typed there. */
  readonly terminal?: boolean;
  readonly answer?: string;
  /** What is typed unseen, in turn; then Ctrl-C. */
  readonly secrets?: readonly string[];
  /** The lines of standard input. */
  readonly input?: readonly string[];
  readonly columns?: number;
  readonly stop?: AbortSignal;
  readonly launch?: LaunchHandlers;
  readonly onOut?: (text: string) => void;
  readonly onErr?: (text: string) => void;
}

export async function cli(argv: readonly string[], options: CliRunOptions = {}): Promise<CliRun> {
  const run = { out: "", err: "", asked: [] as string[] };
  const secrets = [...options.secrets ?? []];
  const input = [...options.input ?? []];
  const terminal = options.terminal ?? false;
  const io: CliIo = {
    terminal: () => null,
    out(text) {
      run.out += text;
      options.onOut?.(text);
      return true;
    },
    err(text) {
      run.err += text;
      options.onErr?.(text);
    },
    ask(question) {
      run.asked.push(question);
      return Promise.resolve(options.answer ?? null);
    },
    askSecret(question) {
      run.asked.push(question);
      return Promise.resolve(secrets.shift() ?? null);
    },
    readLine: () => Promise.resolve(input.shift() ?? null),
    inputIsTerminal: terminal,
    outputIsTerminal: terminal,
    errorIsTerminal: terminal,
    columns: options.columns ?? 80,
    stop: options.stop ?? new AbortController().signal,
  };
  const code = await runCli(argv, {
    io,
    settings: {
      bridgeUrl: options.url,
      token: undefined,
      noColor: false,
      registration: {},
      // Nobody is signed in, and nothing can be stored, unless a test says where.
      sessionFile: "/nonexistent/grid/session.json",
      ...options.settings,
    },
    launch: options.launch ?? { up: () => 0, demo: () => 0 },
  });
  return { code, ...run };
}
