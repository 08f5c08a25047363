/** What a benchmark gives. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: "ratio" | "ms" | "MiB" | "per second";
}

/** Milliseconds that `work` took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** One table, ratios first. */
export function figureTable(figures: readonly Figure[]): string {
  const order = (figure: Figure) => figure.unit === "ratio" ? 0 : 1;
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.toSorted((a, b) => order(a) - order(b)).map(({ name, value, unit }) => {
    const digits = unit === "ratio" ? 2 : unit === "per second" || value >= 100 ? 0 : 1;
    const shown = value.toFixed(digits).padStart(9);
    return `${name.padEnd(width)} ${shown}${unit === "ratio" ? "" : ` ${unit}`}`;
  }).join("\n");
}
