/**
 * Renaming an entry of one directory, and of no other (hardening 17). A path is looked up anew by every
 * call, so whoever swaps a parent for a link between a check and the rename chooses what is moved. A shell
 * enters the parent first, makes sure by `getcwd` where it is, and renames relative to that: what `openat`
 * and `renameat` (POSIX.1-2017) would do, which Deno does not have.
 */
import type { CommandLane } from "../../shared/host/command.ts";

/** An entry of a directory, named by the directory's real path. */
export interface Entry {
  readonly directory: string;
  readonly name: string;
}

/** The programs that the lane must have. */
export const moverPrograms = { sh: "/bin/sh" } as const;

const moveMs = 30_000;
const exchangedCode = 3;
// Exit 3: the directory is not where it was said to be. `-T`: never into a directory that stands there.
const enter = `cd -P -- "$1" && [ "$(pwd -P)" = "$1" ] || exit ${exchangedCode}`;
const scripts = {
  out: `${enter}; exec mv -T -n -- "./$2" "$3"`,
  in: `${enter}; exec mv -T -n -- "$3" "./$2"`,
} as const;

export class AnchoredMove {
  constructor(private readonly lane: CommandLane) {}

  /** Moves `entry` to the absolute path `destination`. Throws when its directory has been exchanged. */
  async out(entry: Entry, destination: string): Promise<void> {
    await this.#run("out", entry, destination);
  }

  /** Moves what is at the absolute path `source` back to `entry`. */
  async in(entry: Entry, source: string): Promise<void> {
    await this.#run("in", entry, source);
  }

  async #run(way: keyof typeof scripts, { directory, name }: Entry, other: string): Promise<void> {
    const { code, stderr } = await this.lane.run(
      "sh",
      ["-c", scripts[way], "sh", directory, name, other],
      { timeoutMs: moveMs },
    );
    if (code === exchangedCode) {
      throw new Error(`${directory} was exchanged for something else meanwhile`);
    }
    if (code !== 0) throw new Error(stderr.trim() || `mv ended with code ${code}`);
  }
}
