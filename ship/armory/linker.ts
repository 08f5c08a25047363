/**
 * Makes symbolic links through `ln`: `Deno.symlink` wants the right to read and write everything, which a ship
 * does not have.
 */
import { dirname } from "node:path";
import { CommandLane, type LaneOptions } from "../../shared/host/command.ts";

const concurrencyMax = 4;
const queueMax = 10_000;
const timeoutMs = 20_000;
/** Arguments of one call: far below what the system takes. */
const batchLinksMax = 200;
const batchCharactersMax = 64 * 1024;

export class Linker {
  readonly #lane: CommandLane;

  constructor(lane: Pick<LaneOptions, "timeoutPath" | "environment">, lnPath: string) {
    this.#lane = new CommandLane({ ...lane, programs: { ln: lnPath }, concurrencyMax, queueMax });
  }

  /** Makes one link; throws with what `ln` said, also when something stands there. */
  async link(target: string, destination: string): Promise<void> {
    const said = await this.#ln("-s", "-T", "--", target, destination);
    if (said !== null) throw new Error(said);
  }

  /**
   * Makes links that have their targets' names, in `folder`, and leaves alone what stands there already. Says
   * what went wrong, or null; which links were made is the caller's to look up.
   */
  async linkInto(folder: string, targets: readonly string[]): Promise<string | null> {
    let problem: string | null = null;
    for (const batch of batches(targets)) {
      problem = await this.#ln("-s", "-t", folder, "--", ...batch) ?? problem;
    }
    return problem;
  }

  async #ln(...args: string[]): Promise<string | null> {
    const { ending, code, stderr } = await this.#lane.run("ln", args, {
      timeoutMs,
      env: { LC_ALL: "C" },
    });
    if (ending === "exited" && code === 0) return null;
    const line = stderr.trim().split("\n").at(-1) ?? "";
    return line === "" ? `ln ended with ${ending} ${code}` : line;
  }
}

function batches(targets: readonly string[]): string[][] {
  const all: string[][] = [];
  let characters = Infinity;
  for (const target of targets) {
    characters += target.length;
    const last = all.at(-1);
    if (last === undefined || last.length >= batchLinksMax || characters > batchCharactersMax) {
      all.push([target]);
      characters = target.length;
    } else last.push(target);
  }
  return all;
}

/** Groups links by the folder of their destination. */
export function byFolder<Link extends { readonly destination: string }>(
  links: readonly Link[],
): Map<string, Link[]> {
  return Map.groupBy(links, ({ destination }) => dirname(destination));
}
