import type { Hex } from "viem";
import type { PlacedLog } from "../node-answers.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";

type Expected = {
  filters: readonly { address: Hex; topic0: Hex }[];
  fromBlock: number;
  toBlock: number;
  /** Blocks whose hashes are known: a log at their height with another hash is of another chain. */
  blocks: readonly { number: number; hash: Hex }[];
};

/**
 * Puts a node's logs in order, each once. Throws {@link RpcFault} if they cannot be the answer to
 * the question: from another contract or block, or from two chains at once.
 */
export const orderLogs = (
  answer: readonly (PlacedLog & { removed?: boolean | undefined })[],
  { filters, fromBlock, toBlock, blocks }: Expected,
): { logs: PlacedLog[]; repeatedCount: number } => {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  const byPlace = new Map<string, PlacedLog>();
  let repeatedCount = 0;
  for (const { removed, ...log } of answer) {
    if (removed === true) continue;
    if (log.blockNumber < fromBlock || log.blockNumber > toBlock) refuse("a log of another block");
    const own = filters.filter(({ address }) => address === log.address);
    if (own.length === 0) refuse("a log of another contract");
    const hash = hashes.get(log.blockNumber) ?? log.blockHash;
    if (hash !== log.blockHash) refuse("logs of two chains");
    hashes.set(log.blockNumber, hash);
    // Addresses and topics are asked for as two lists, so a contract's other events can come through.
    if (!own.some(({ topic0 }) => topic0 === log.topics[0])) continue;
    const place = `${log.blockNumber}:${log.logIndex}`;
    if (byPlace.has(place)) repeatedCount += 1;
    byPlace.set(place, log);
  }
  const logs = [...byPlace.values()].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  return { logs, repeatedCount };
};

const refuse = (what: string): never => {
  throw new RpcFault("invalid", what);
};
