import type { Decimal } from "@payment-links/contracts";
import type { StoredTransfer, ChainTransfer, TransferName } from "../../domain/chain-transfer.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import type { ChainSettings } from "../chain/chain-settings.ts";
import { instantOf } from "../chain/block-of.ts";
import { ChainMovedError } from "../chain/watch-context.ts";
import type { UnprovedPointers } from "../first-pass/unproved-pointers.ts";
import type { WatchedChain } from "../chain/watched-chain.ts";
import type { ChainReader, Pointer, TransactionReceipt, Witness } from "../chain-reader.ts";

/**
 * The payments and deposits behind pointers, each proved by its receipt; no deposit below its token's
 * minimum (rule CHAIN-20). Throws {@link ChainMovedError}
 * where a receipt stands in another block than its pointer, or is missing while `listAwaited` waits for it.
 */
export const findTransfers = async (
  {
    chain,
    reader,
    listAwaited = (missingHashes) => missingHashes,
  }: {
    chain: FoundOn;
    reader: ChainReader;
    listAwaited?: UnprovedPointers["listAwaited"];
  },
  {
    pointers,
    times,
    lines,
  }: { pointers: readonly Pointer[]; times: BlockTimes; lines: FinalityLines },
): Promise<readonly ChainTransfer[]> => {
  const blockHashes = new Map(pointers.map((one) => [one.transactionHash, one.blockHash]));
  if (blockHashes.size === 0) return [];
  const receipts = await reader.readReceipts([...blockHashes.keys()]);
  const missing = [...blockHashes.keys()].filter((hash) => !receipts.has(hash));
  if (listAwaited(missing).length > 0) {
    throw new ChainMovedError("a listed transaction has no receipt");
  }
  return [...blockHashes].flatMap(([transactionHash, blockHash]) => {
    const receipt = receipts.get(transactionHash);
    if (receipt === undefined) return [];
    if (receipt.blockHash !== blockHash) {
      throw new ChainMovedError("a receipt does not stand in the block of its pointer");
    }
    return transfersOf(chain, receipt, { times, lines }).filter((found) => !isDust(chain, found));
  });
};

type FoundOn = Pick<WatchedChain, "id" | "moreBlocksOf"> & {
  settings?: Pick<ChainSettings, "depositMinimums">;
};

const isDust = (
  { settings: { depositMinimums = {} } = {} }: FoundOn,
  { amount, payer, tokenAddress }: ChainTransfer,
): boolean => payer !== undefined && amount.lessThan(depositMinimums[tokenAddress] ?? 0);

/**
 * How far one reading is to be trusted: it settles nothing where others are there to vouch for it.
 * `settleTransfers` does, once they have.
 */
export const linesOfOne = (witnesses: readonly Witness[], lines: FinalityLines): FinalityLines =>
  witnesses.length > 1 ? { settle: -1, final: -1 } : lines;

/** The payments that one receipt proves. */
const transfersOf = (
  chain: Pick<WatchedChain, "id" | "moreBlocksOf">,
  receipt: TransactionReceipt,
  { times, lines }: Surroundings,
): readonly ChainTransfer[] => {
  const sums = sumPerLink(receipt.transfers.map((one) => ({ ...one, ...receipt })));
  return receipt.transfers.map((verified): ChainTransfer => ({
    ...verified,
    chainId: chain.id,
    transactionHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    occurredAt: timeOf(times, receipt.blockNumber),
    sender: receipt.sender,
    nonce: undefined,
    state: isDeepEnough(
      chain,
      { ...receipt, amount: sums.get(linkKey({ ...receipt, ...verified })) ?? verified.amount },
      lines.settle,
    )
      ? "settled"
      : "seen",
  }));
};

type LinkPayment = Pick<ChainTransfer, "transactionHash" | "referenceHash" | "amount">;

/** The same text for all that one transaction pays to one link. */
const linkKey = ({
  referenceHash,
  transactionHash,
}: Pick<LinkPayment, "transactionHash" | "referenceHash">): string =>
  `${transactionHash} ${referenceHash}`;

/** What each transaction pays to each link. The policy goes by this sum: many outputs may share a large one. */
const sumPerLink = (payments: readonly LinkPayment[]): ReadonlyMap<string, Decimal> => {
  const sums = new Map<string, Decimal>();
  for (const payment of payments) {
    const key = linkKey(payment);
    sums.set(key, payment.amount.plus(sums.get(key) ?? 0));
  }
  return sums;
};

/** Payments, each with what its transaction pays to its link altogether. */
export const withLinkSums = <Payment extends LinkPayment>(
  payments: readonly Payment[],
): readonly { payment: Payment; ofLink: Payment }[] => {
  const sums = sumPerLink(payments);
  return payments.map((payment) => ({
    payment,
    ofLink: { ...payment, amount: sums.get(linkKey(payment)) ?? payment.amount },
  }));
};

/**
 * All that a receipt proves now, at the time of a transfer that is stored of it. What is stored was enough
 * once: another minimum takes it away from nobody.
 */
export const findOfSame = (
  { chain }: { chain: FoundOn },
  stored: StoredTransfer,
  receipt: TransactionReceipt,
  lines: FinalityLines,
): readonly ChainTransfer[] => {
  const times = new Map([[receipt.blockNumber, stored.occurredAt]]);
  return transfersOf(chain, receipt, { times, lines }).filter(
    (found) => isSame(found, stored) || !isDust(chain, found),
  );
};

/**
 * Which open transfers receipts tell of: without `findsDeposits` they tell of no deposit, which says
 * nothing. The database leaves the others out, as very many of them would hide what stands behind them.
 */
export const lookedFor = ({
  settings: { findsDeposits = false },
}: Pick<WatchedChain, "settings">): { withDeposits: boolean } => ({ withDeposits: findsDeposits });

/** Whether two are of one name in their transaction. */
export const isSame = (one: TransferName, other: TransferName): boolean =>
  one.ordinal === other.ordinal && one.referenceHash === other.referenceHash;

type Surroundings = { times: BlockTimes; lines: FinalityLines };

/** The time of blocks by their number. */
type BlockTimes = ReadonlyMap<number, Date>;

/** The time of a receipt's block. */
export const readTime = async (
  reader: ChainReader,
  receipt: TransactionReceipt,
): Promise<Date | undefined> => (await readTimes(reader, [receipt])).get(receipt.blockNumber);

/** The times of the blocks that hold these pointers. The node is asked where it did not say them. */
export const readTimes = async (
  reader: ChainReader,
  pointers: readonly { blockNumber: number; blockHash: string; timestampSeconds?: number }[],
): Promise<BlockTimes> => {
  const times = new Map<number, Date>();
  const untold = new Map<number, string>();
  for (const { blockNumber, blockHash, timestampSeconds } of pointers) {
    if (timestampSeconds === undefined) untold.set(blockNumber, blockHash);
    else times.set(blockNumber, instantOf(timestampSeconds));
  }
  for (const range of runsOf([...untold.keys()].sort((a, b) => a - b))) {
    for (const header of await reader.readHeaders(range)) {
      const blockHash = untold.get(header.number);
      if (blockHash === undefined) continue;
      if (blockHash !== header.hash)
        throw new ChainMovedError("a pointer's block is not there now");
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
  if (time === undefined) throw new ChainMovedError("a pointer's block is not there now");
  return time;
};

/** Whether a payment stands as deep as its amount asks, where what is at `settle` settles by itself. */
export const isDeepEnough = (
  { moreBlocksOf = () => 0 }: Pick<WatchedChain, "moreBlocksOf">,
  payment: Pick<ChainTransfer, "amount" | "blockNumber" | "sender">,
  settle: number,
): boolean => payment.blockNumber + moreBlocksOf(payment) <= settle;
