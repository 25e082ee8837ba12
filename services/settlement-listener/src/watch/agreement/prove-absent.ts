/**
 * Returns which transactions are in no canonical block from `fromBlock` on. Returns an empty set if
 * the node cannot prove it for that range.
 */
type ReadAbsent = (hashes: readonly string[], fromBlock: number) => Promise<ReadonlySet<string>>;

/**
 * Returns which transactions one node proves to be in no canonical block. `earliestBlocks` maps
 * each transaction to the first block that can contain it. A proof for an old block also covers all
 * newer transactions, because nodes prune the oldest blocks first. One request for the oldest
 * transaction is therefore usually enough. If it fails, a binary search finds the oldest block for
 * which the node has data.
 */
export const proveAbsent = async (
  earliestBlocks: ReadonlyMap<string, number>,
  readAbsent: ReadAbsent,
): Promise<ReadonlySet<string>> => {
  const hashes = [...earliestBlocks.keys()].toSorted(
    (a, b) => (earliestBlocks.get(a) ?? 0) - (earliestBlocks.get(b) ?? 0),
  );
  const absent = new Set<string>();
  // The node cannot prove absence for transactions before index `from`. Those from index `to` on
  // have already been requested.
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
