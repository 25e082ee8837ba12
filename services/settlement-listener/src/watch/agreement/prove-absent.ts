/**
 * Returns which transactions are in no canonical block, given that none was mined below
 * `fromBlock`. Returns an empty set if the node cannot prove it.
 */
type ReadAbsent = (hashes: readonly string[], fromBlock: number) => Promise<ReadonlySet<string>>;

/**
 * Returns which transactions are in no canonical block, according to one node. `earliestBlocks` has
 * the first block that may hold each transaction. Nodes prune the oldest blocks first, so one proof
 * covers all newer transactions. Usually one request that starts at the oldest is enough. Otherwise
 * a binary search finds where the node's data starts.
 */
export const proveAbsent = async (
  earliestBlocks: ReadonlyMap<string, number>,
  readAbsent: ReadAbsent,
): Promise<ReadonlySet<string>> => {
  const hashes = [...earliestBlocks.keys()].toSorted(
    (a, b) => (earliestBlocks.get(a) ?? 0) - (earliestBlocks.get(b) ?? 0),
  );
  const absent = new Set<string>();
  // Absence cannot be proved before `from`. Everything from `to` on was already requested.
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
