/** Which of some transactions are nowhere, none of which was mined below a block; none where nothing proves it. */
type ReadAbsent = (hashes: readonly string[], fromBlock: number) => Promise<ReadonlySet<string>>;

/**
 * Finds which transactions are nowhere by the word of one node, each with the block below which it cannot
 * have been mined. Nodes forget the oldest first, so one proof serves all that is newer: mostly the oldest
 * is asked by alone, and else few questions, one after the other, find from where on the node remembers.
 */
export const proveAbsent = async (
  earliestBlocks: ReadonlyMap<string, number>,
  readAbsent: ReadAbsent,
): Promise<ReadonlySet<string>> => {
  const hashes = [...earliestBlocks.keys()].toSorted(
    (a, b) => (earliestBlocks.get(a) ?? 0) - (earliestBlocks.get(b) ?? 0),
  );
  const absent = new Set<string>();
  // What stands before `from` cannot be proved, and from `to` on all has been asked for.
  let [from, to, next] = [0, hashes.length, 0];
  while (from < to) {
    const provenHashes = await readAbsent(
      hashes.slice(next, to),
      earliestBlocks.get(hashes[next] ?? "") ?? 0,
    );
    for (const hash of provenHashes) absent.add(hash);
    if (provenHashes.size > 0) to = next;
    else from = next + 1;
    next = Math.floor((from + to) / 2);
  }
  return absent;
};
