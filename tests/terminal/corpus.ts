/** What sessions write in the oracle's tests: bytes for a terminal, by what they are about. */
import type { Entry } from "./corpus/bytes.ts";
import { garbage } from "./corpus/garbage.ts";
import { looks } from "./corpus/looks.ts";
import { modesAndStrings } from "./corpus/modes.ts";
import { motion } from "./corpus/motion.ts";

/**
 * No wide character is overwritten by half: tmux 3.3a then keeps in its grid a whole one with something
 * else on its second half, which no screen can show.
 */
export const corpus: readonly Entry[] = [
  ...looks,
  ...motion,
  ...modesAndStrings,
  ...garbage,
];

/** The entry of that name. */
export function corpusEntry(what: string): Entry {
  const entry = corpus.find(([name]) => name === what);
  if (entry === undefined) throw new Error(`the corpus has no ${what}`);
  return entry;
}
