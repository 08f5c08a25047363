/**
 * What tmux says and what it meant (tmux 3.3a; its messages are not translated). Pure.
 */
import { sessionNamePattern } from "./names.ts";

/** What a tmux call came to, judged by its message: tmux exits with 1 for nearly everything. */
export type Outcome =
  | { readonly kind: "ok" }
  /** No server runs on the socket, or it went away while we spoke to it. */
  | { readonly kind: "noServer" }
  | { readonly kind: "noSession" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "failed"; readonly reason: string };

/** What `judge` needs to know of a finished call. */
export interface Ended {
  readonly ending: "exited" | "timeout" | "aborted" | "overflow";
  readonly code: number;
  readonly stderr: string;
}

const noServer = [
  // No socket yet: `error connecting to /tmp/tmux-0/grid-ship (No such file or directory)`.
  // A socket whose server died: `no server running on /tmp/tmux-0/grid-ship`.
  /^no server running on /m,
  /^error connecting to .* \((No such file or directory|Connection refused)\)$/m,
  // The server ended between connecting and answering, as it does after its last session.
  /^server exited( unexpectedly)?$/m,
  /^lost server$/m,
];

/** Judges a finished call by what it meant. */
export function judge(ended: Ended): Outcome {
  if (ended.ending !== "exited") return { kind: "failed", reason: `ended by ${ended.ending}` };
  if (noServer.some((pattern) => pattern.test(ended.stderr))) return { kind: "noServer" };
  if (/^can't find session: /m.test(ended.stderr)) return { kind: "noSession" };
  if (/^duplicate session: /m.test(ended.stderr)) return { kind: "duplicate" };
  if (ended.code === 0) return { kind: "ok" };
  const said = ended.stderr.trim();
  return { kind: "failed", reason: said === "" ? `exit code ${ended.code}` : said };
}

/** One line per pane: the session's name, and 1 when the pane's program has ended. */
export const panesFormat = "#{session_name} #{pane_dead}";

/** The names of our sessions in which at least one pane still runs something. */
export function parseLiveSessions(panes: string): Set<string> {
  const live = new Set<string>();
  for (const line of panes.split("\n")) {
    const [name = "", dead = ""] = line.split(" ");
    if (sessionNamePattern.test(name) && dead !== "1") live.add(name);
  }
  return live;
}
