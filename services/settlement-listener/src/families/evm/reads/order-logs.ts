import type { Hex } from "viem";
import type { IndexedLog } from "../rpc-results.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";

type ExpectedLogs = {
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
  receivedLogs: readonly (IndexedLog & { removed?: boolean | undefined })[],
  { filters, fromBlock, toBlock, blocks }: ExpectedLogs,
): { logs: IndexedLog[]; repeatedCount: number } => {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  const logByPosition = new Map<string, IndexedLog>();
  let repeatedCount = 0;
  for (const { removed, ...log } of receivedLogs) {
    if (removed === true) continue;
    if (log.blockNumber < fromBlock || log.blockNumber > toBlock)
      rejectLogs("a log of another block");
    const contractFilters = filters.filter(({ address }) => address === log.address);
    if (contractFilters.length === 0) rejectLogs("a log of another contract");
    const hash = hashes.get(log.blockNumber) ?? log.blockHash;
    if (hash !== log.blockHash) rejectLogs("logs of two chains");
    hashes.set(log.blockNumber, hash);
    // Addresses and topics are asked for as two lists, so a contract's other events can come through.
    if (!contractFilters.some(({ topic0 }) => topic0 === log.topics[0])) continue;
    const position = `${log.blockNumber}:${log.logIndex}`;
    if (logByPosition.has(position)) repeatedCount += 1;
    logByPosition.set(position, log);
  }
  const logs = [...logByPosition.values()].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  return { logs, repeatedCount };
};

const rejectLogs = (reason: string): never => {
  throw new RpcFault("invalid", reason);
};
