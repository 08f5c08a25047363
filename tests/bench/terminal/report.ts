/** The terminal bench's figures as text: ratios against the design's goals first, then what was measured. */
import type { Crowd } from "./crowd.ts";
import type { Rates } from "./rates.ts";
import type { Times } from "./workloads.ts";

export type Measured = Times | number | {
  readonly bytesPerFrame: number;
  readonly serverMs: number;
};
type Results = ReadonlyMap<string, ReadonlyMap<string, Measured>>;

/** One ratio the design sets a bound for: our figure by another's. */
export interface Goal {
  readonly figure: string;
  /** Which number of the figure; for a plain number, nothing. */
  readonly of?: "p50" | "p99" | "max" | "bytesPerFrame" | "serverMs";
  readonly ours?: string;
  readonly by: string;
  /** The figure of `by`, where it is another one. */
  readonly byFigure?: string;
  readonly atMost: number;
}

/** The goals of the terminal design. */
export const goals: readonly Goal[] = [
  { figure: "echo, other pane flooded", of: "p50", by: "ttyd", atMost: 0.08 },
  { figure: "echo, other pane flooded", of: "p99", by: "ttyd", atMost: 0.25 },
  { figure: "idle echo", of: "p50", by: "tmux attach", atMost: 3 },
  { figure: "Ctrl-C in yes", of: "p50", by: "mosh", atMost: 0.4 },
  { figure: "Ctrl-C in yes, 64 KiB/s", of: "p50", by: "mosh", atMost: 0.5 },
  {
    figure: "Ctrl-C in yes, 64 KiB/s",
    of: "p50",
    by: "grid",
    byFigure: "Ctrl-C in yes",
    atMost: 1.5,
  },
  { figure: "cat of 50 MiB", by: "tmux attach", atMost: 1.05 },
  {
    figure: "full-screen program, 80×24",
    of: "bytesPerFrame",
    by: "ttyd",
    atMost: 0.8,
  },
  {
    figure: "full-screen program, 200×50",
    of: "bytesPerFrame",
    by: "ttyd",
    atMost: 1,
  },
  {
    figure: "full-screen program, 80×24",
    of: "bytesPerFrame",
    by: "mosh",
    atMost: 0.4,
  },
  { figure: "vim, bytes a key", by: "ttyd", atMost: 1 },
  {
    figure: "full-screen program, 80×24",
    of: "serverMs",
    by: "mosh",
    atMost: 1.2,
  },
  {
    figure: "idle echo",
    of: "p50",
    ours: "grid via bridge",
    by: "grid",
    atMost: 1.3,
  },
  {
    figure: "echo, other pane flooded",
    of: "p50",
    ours: "grid via bridge",
    by: "grid",
    atMost: 1.3,
  },
  {
    figure: "Ctrl-C in yes",
    of: "p50",
    ours: "grid via bridge",
    by: "grid",
    atMost: 1.3,
  },
];

/** Goals that are milliseconds, not ratios. */
const diffMsMax = 0.3;
const turnMsMax = 20;

export function ratesTable(rates: Rates): string {
  const against = (value: number, max: number) =>
    `${value.toFixed(2)} ms  goal ${max}${value <= max ? "" : "  missed"}`;
  return [
    "",
    `parse, a log                              ${rates.parseMegabytesPerSecond.toFixed(1)} MB/s`,
    `diff at 200×50, a third of the rows       ${against(rates.diffMs, diffMsMax)}`,
    `encode its frame                          ${rates.encodeMs.toFixed(2)} ms`,
    `encode                                    ${rates.encodeMegabytesPerSecond.toFixed(1)} MB/s`,
    `1024×512, every cell its own colour: longest turn ${against(rates.worstTurnMs, turnMsMax)}`,
    `  the first time                          ${rates.worstFirstTurnMs.toFixed(2)} ms`,
    `  the whole screen in ${rates.worstFrames} frames, ${rates.worstMs.toFixed(0)} ms`,
  ].join("\n");
}

export function crowdTable(crowd: Crowd): string {
  return [
    "",
    `${crowd.terminals} terminals at once: opened in ${crowd.openMs.toFixed(0)} ms`,
    `  memory of the ship for each             ${(crowd.memoryBytesEach / 1024).toFixed(0)} KiB`,
    `  more threads                            ${crowd.threadsMore}`,
    `  processor time at rest                  ${crowd.idleMsPerSecond.toFixed(1)} ms a second`,
    `  echo when all type at once, p50/p99     ${brief(crowd.echo.p50)}/${
      brief(crowd.echo.p99)
    } ms`,
  ].join("\n");
}

export function report(
  results: Results,
  peers: readonly string[],
  goals: readonly Goal[],
): string {
  const numberOf = (figure: string, peer: string, of: Goal["of"]) => {
    const measured = results.get(figure)?.get(peer);
    if (measured === undefined) return undefined;
    if (typeof measured === "number") return measured;
    return of === undefined ? undefined : (measured as unknown as Record<string, number>)[of];
  };
  const lines: string[] = [];
  for (const { figure, of, ours = "grid", by, byFigure, atMost } of goals) {
    const own = numberOf(figure, ours, of);
    const others = numberOf(byFigure ?? figure, by, of);
    if (own === undefined || others === undefined) continue;
    const ratio = own / others;
    const what = `${figure}${of === undefined ? "" : `, ${of}`}: ${ours} / ${by}${
      byFigure === undefined ? "" : `, ${byFigure}`
    }`;
    const verdict = ratio <= atMost ? "" : "  missed";
    lines.push(
      `${what.padEnd(72)} ${ratio.toFixed(2).padStart(6)}  goal ${atMost}${verdict}`,
    );
  }
  const width = 14;
  lines.push(
    "",
    "".padEnd(30) + peers.map((name) => name.padStart(width + 2)).join(""),
  );
  for (const [figure, row] of results) {
    const cells = peers.map((peer) => shown(row.get(peer)).padStart(width + 2));
    lines.push(figure.padEnd(30) + cells.join(""));
  }
  return lines.join("\n");
}

function shown(measured: Measured | undefined): string {
  if (measured === undefined) return "-";
  if (typeof measured === "number") {
    return Math.round(measured).toLocaleString("en");
  }
  if ("p50" in measured) {
    return `${brief(measured.p50)}/${brief(measured.p99)} ms`;
  }
  return `${Math.round(measured.bytesPerFrame)} B ${Math.round(measured.serverMs)} ms`;
}

const brief = (value: number) =>
  value === Infinity ? "never" : value < 10 ? value.toFixed(2) : value.toFixed(0);
