import type { Hex } from "viem";
import type { IndexedLog } from "./rpc-results.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";

type ExpectedLogs = {
  filters: readonly { address: Hex; topic0: Hex }[];
  fromBlock: number;
  toBlock: number;
  /**
   * Blocks whose hashes are known. A log at one of these heights with a different hash is from
   * another fork.
   */
  blocks: readonly { number: number; hash: Hex }[];
};

/**
 * Sorts a node's logs and removes duplicates. Throws {@link RpcFault} if the logs cannot match the
 * request because they are from another contract or block, or from two forks.
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
    if (hash !== log.blockHash) rejectLogs("logs from two forks");
    hashes.set(log.blockNumber, hash);
    // The request lists addresses and topics separately, so the node may also return other events
    // of a contract.
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
