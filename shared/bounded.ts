/** Work on many things, a bounded number at once. */

/**
 * Runs `work` for every item, at most `concurrencyMax` at once. The first failure stops new work from being
 * started, and is thrown once what is under way has ended.
 */
export async function forEachBounded<Item>(
  items: Iterable<Item>,
  concurrencyMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failure: { readonly thrown: unknown } | null = null;
  const worker = async () => {
    while (failure === null) {
      const next = rest.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (thrown) {
        failure ??= { thrown };
      }
    }
  };
  await Promise.all(Array.from({ length: concurrencyMax }, worker));
  const failed = failure as { readonly thrown: unknown } | null;
  if (failed !== null) throw failed.thrown;
}
