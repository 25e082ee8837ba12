import type { StoredTransfer, ChainTransfer, TransferState } from "../../domain/chain-transfer.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import { verifyReceipt } from "../../domain/verify-receipt.ts";
import { ChainMovedError } from "../chain/watch-context.ts";
import type { WatchedChain } from "../chain/watched-chain.ts";
import type { ChainReader, ProxyLog, TransactionReceipt, Witness } from "../rpc/chain-reader.ts";

/**
 * The payments behind the proxies' logs, each proved by its receipt. Throws {@link ChainMovedError}
 * where a receipt stands in another block than its log.
 */
export const findTransfers = async (
  { chain, reader }: { chain: WatchedChain; reader: ChainReader },
  { logs, times, lines }: { logs: readonly ProxyLog[]; times: BlockTimes; lines: FinalityLines },
): Promise<readonly ChainTransfer[]> => {
  const blockHashes = new Map(logs.map((log) => [log.transactionHash, log.blockHash]));
  if (blockHashes.size === 0) return [];
  const receipts = await reader.readReceipts([...blockHashes.keys()]);
  return [...blockHashes].flatMap(([transactionHash, blockHash]) => {
    const receipt = receipts.get(transactionHash);
    if (receipt?.blockHash !== blockHash) {
      throw new ChainMovedError("a receipt does not stand in the block of its log");
    }
    return transfersOf(chain, receipt, { times, lines });
  });
};

/**
 * How far one reading is to be trusted: it settles nothing where others are there to vouch for it.
 * `settleTransfers` does, once they have.
 */
export const linesOfOne = (witnesses: readonly Witness[], lines: FinalityLines): FinalityLines =>
  witnesses.length > 1 ? { settle: -1, final: -1 } : lines;

/** The payments that one receipt proves. */
const transfersOf = (
  chain: WatchedChain,
  receipt: TransactionReceipt,
  { times, lines }: Surroundings,
): readonly ChainTransfer[] =>
  verifyReceipt(receipt, chain).map((verified) => ({
    ...verified,
    chainId: chain.id,
    transactionHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    occurredAt: timeOf(times, receipt.blockNumber),
    sender: receipt.from,
    nonce: undefined,
    state: stateAt(receipt.blockNumber, lines),
  }));

/** A stored transfer as a receipt proves it now; undefined where that does not. */
export const findAgain = (
  { chain }: { chain: WatchedChain },
  stored: StoredTransfer,
  receipt: TransactionReceipt,
  lines: FinalityLines,
): ChainTransfer | undefined => {
  const times = new Map([[receipt.blockNumber, stored.occurredAt]]);
  return transfersOf(chain, receipt, { times, lines }).find(
    ({ ordinal, referenceHash }) =>
      ordinal === stored.ordinal && referenceHash === stored.referenceHash,
  );
};

type Surroundings = { times: BlockTimes; lines: FinalityLines };

/** The time of blocks by their number. */
type BlockTimes = ReadonlyMap<number, Date>;

/** Unix seconds as an instant. */
export const instantOf = (timestampSeconds: number): Date => new Date(timestampSeconds * 1000);

/** The times of the blocks that hold these logs. The node is asked where it did not say them. */
export const readTimes = async (
  reader: ChainReader,
  logs: readonly { blockNumber: number; blockHash: string; timestampSeconds?: number }[],
): Promise<BlockTimes> => {
  const times = new Map<number, Date>();
  const untold = new Map<number, string>();
  for (const { blockNumber, blockHash, timestampSeconds } of logs) {
    if (timestampSeconds === undefined) untold.set(blockNumber, blockHash);
    else times.set(blockNumber, instantOf(timestampSeconds));
  }
  for (const range of runsOf([...untold.keys()].sort((a, b) => a - b))) {
    for (const header of await reader.readHeaders(range)) {
      const blockHash = untold.get(header.number);
      if (blockHash === undefined) continue;
      if (blockHash !== header.hash) throw new ChainMovedError("a log's block is not there now");
      times.set(header.number, instantOf(header.timestampSeconds));
    }
  }
  return times;
};

const gapBlocksMax = 4;
const runBlocksMax = 100;

/** Ranges that hold the given numbers, in order, and few others. */
const runsOf = (numbers: readonly number[]): { fromBlock: number; toBlock: number }[] => {
  const runs: { fromBlock: number; toBlock: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    const isNear =
      run !== undefined &&
      number - run.toBlock <= gapBlocksMax &&
      number - run.fromBlock < runBlocksMax;
    if (isNear) run.toBlock = number;
    else runs.push({ fromBlock: number, toBlock: number });
  }
  return runs;
};

const timeOf = (times: BlockTimes, number: number): Date => {
  const time = times.get(number);
  if (time === undefined) throw new ChainMovedError("a log's block is not there now");
  return time;
};

const stateAt = (blockNumber: number, { settle }: FinalityLines): TransferState =>
  blockNumber > settle ? "seen" : "settled";
