/** "Did you mean …?": the candidate that a typo most probably meant. */

/** The nearest of `candidates` to `given`, or null when none is near enough to be worth a guess. */
export function nearest(given: string, candidates: readonly string[]): string | null {
  // One slip in a short word, more in a longer one; a whole different word is no slip.
  const distanceMax = given.length <= 2 ? 1 : given.length <= 5 ? 2 : 3;
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(given, candidate) }))
    .filter(({ distance, candidate }) => distance <= distanceMax && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? null;
}

/** Edits from `a` to `b`, a swap of neighbours counting as one (optimal string alignment). */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + cost,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
