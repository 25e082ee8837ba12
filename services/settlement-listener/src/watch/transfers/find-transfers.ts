import type { Decimal } from "@payment-links/contracts";
import type { StoredTransfer, Transfer, TransferIdentity } from "../../domain/transfer.ts";
import type { FinalityLimits } from "../../domain/plan-scan.ts";
import type { ChainSettings } from "@payment-links/chains/chain-settings";
import { toDate } from "../chain/to-scanned-block.ts";
import { ChainMovedError } from "../chain/watch-context.ts";
import type { MissingReceiptTracker } from "../scan/missing-receipt-tracker.ts";
import type { WatchedChain } from "@payment-links/chains/watched-chain";
import type {
  ChainReader,
  TransactionPointer,
  TransactionReceipt,
  Verifier,
} from "@payment-links/chains/chain-reader";

/**
 * Returns the payments and deposits that the receipts of the given pointers prove. Leaves out
 * deposits below their token's minimum (rule CHAIN-20). Throws {@link ChainMovedError} if a receipt
 * is in a different block than its pointer. Also throws it if a receipt is missing and
 * `listAwaited` still waits for it.
 */
export const findTransfers = async (
  {
    chain,
    reader,
    listAwaited = (missingHashes) => missingHashes,
  }: {
    chain: TransferChain;
    reader: ChainReader;
    listAwaited?: MissingReceiptTracker["listAwaited"];
  },
  {
    pointers,
    times,
    limits,
  }: { pointers: readonly TransactionPointer[]; times: BlockTimes; limits: FinalityLimits },
): Promise<readonly Transfer[]> => {
  const blockHashes = new Map(
    pointers.map((pointer) => [pointer.transactionHash, pointer.blockHash]),
  );
  if (blockHashes.size === 0) return [];
  const receipts = await reader.readReceipts([...blockHashes.keys()]);
  const hashesWithoutReceipt = [...blockHashes.keys()].filter((hash) => !receipts.has(hash));
  if (listAwaited(hashesWithoutReceipt).length > 0) {
    throw new ChainMovedError("a listed transaction has no receipt");
  }
  return [...blockHashes].flatMap(([transactionHash, blockHash]) => {
    const receipt = receipts.get(transactionHash);
    if (receipt === undefined) return [];
    if (receipt.blockHash !== blockHash) {
      throw new ChainMovedError("a receipt is in a different block than its pointer");
    }
    return toTransfers(chain, receipt, { times, limits }).filter(
      (transfer) => !isBelowDepositMinimum(chain, transfer),
    );
  });
};

type TransferChain = Pick<WatchedChain, "id" | "getExtraConfirmations"> & {
  settings?: Pick<ChainSettings, "depositMinimums">;
};

const isBelowDepositMinimum = (
  { settings: { depositMinimums = {} } = {} }: TransferChain,
  { amount, isDeposit, tokenAddress }: Transfer,
): boolean => isDeposit === true && amount.lessThan(depositMinimums[tokenAddress] ?? 0);

/**
 * Returns the limits for data that came from one provider. If there are others, the limits are -1,
 * so that nothing settles yet: `settleTransfers` settles it after two providers agree.
 */
export const getUnverifiedLimits = (
  verifiers: readonly Verifier[],
  limits: FinalityLimits,
): FinalityLimits => (verifiers.length > 1 ? { settledBlock: -1, finalizedBlock: -1 } : limits);

/** Returns the payments and deposits that one receipt proves. */
const toTransfers = (
  chain: Pick<WatchedChain, "id" | "getExtraConfirmations">,
  receipt: TransactionReceipt,
  { times, limits }: ReceiptContext,
): readonly Transfer[] => {
  const totals = sumByLink(receipt.transfers.map((transfer) => ({ ...transfer, ...receipt })));
  return receipt.transfers.map((verifiedTransfer): Transfer => ({
    ...verifiedTransfer,
    chainId: chain.id,
    transactionHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    occurredAt: getBlockTime(times, receipt.blockNumber),
    sender: receipt.sender,
    nonce: undefined,
    status: hasEnoughConfirmations(
      chain,
      {
        ...receipt,
        amount:
          totals.get(toLinkKey({ ...receipt, ...verifiedTransfer })) ?? verifiedTransfer.amount,
      },
      limits.settledBlock,
    )
      ? "settled"
      : "seen",
  }));
};

type LinkPayment = Pick<Transfer, "transactionHash" | "referenceHash" | "amount">;

/** Returns a key that all payments of one transaction to one link share. */
const toLinkKey = ({
  referenceHash,
  transactionHash,
}: Pick<LinkPayment, "transactionHash" | "referenceHash">): string =>
  `${transactionHash} ${referenceHash}`;

/**
 * Sums what each transaction pays to each link. The sum determines the required confirmations,
 * because a large amount can be split over many outputs.
 */
const sumByLink = (payments: readonly LinkPayment[]): ReadonlyMap<string, Decimal> => {
  const totals = new Map<string, Decimal>();
  for (const payment of payments) {
    const key = toLinkKey(payment);
    totals.set(key, payment.amount.plus(totals.get(key) ?? 0));
  }
  return totals;
};

/** Returns each payment together with the total that its transaction pays to its link. */
export const withLinkTotals = <Payment extends LinkPayment>(
  payments: readonly Payment[],
): readonly { payment: Payment; linkTotal: Payment }[] => {
  const totals = sumByLink(payments);
  return payments.map((payment) => ({
    payment,
    linkTotal: { ...payment, amount: totals.get(toLinkKey(payment)) ?? payment.amount },
  }));
};

/**
 * Returns the transfers that a receipt proves, with the block time of a stored transfer. Includes
 * that transfer even if it is below a deposit minimum that was raised later.
 */
export const findTransfersInReceipt = (
  { chain }: { chain: TransferChain },
  storedTransfer: StoredTransfer,
  receipt: TransactionReceipt,
  limits: FinalityLimits,
): readonly Transfer[] => {
  const times = new Map([[receipt.blockNumber, storedTransfer.occurredAt]]);
  return toTransfers(chain, receipt, { times, limits }).filter(
    (transfer) =>
      isSameTransfer(transfer, storedTransfer) || !isBelowDepositMinimum(chain, transfer),
  );
};

/**
 * Returns the filter for open transfers. If the chain does not detect deposits, receipts contain
 * none, so stored deposits cannot be checked. The database leaves them out, because a large number
 * of them would delay the payments behind them.
 */
export const getDepositFilter = ({
  settings: { findsDeposits = false },
}: Pick<WatchedChain, "settings">): { includeDeposits: boolean } => ({
  includeDeposits: findsDeposits,
});

/** Returns whether two transfers of one transaction are the same. */
export const isSameTransfer = (first: TransferIdentity, second: TransferIdentity): boolean =>
  first.ordinal === second.ordinal && first.referenceHash === second.referenceHash;

type ReceiptContext = { times: BlockTimes; limits: FinalityLimits };

type BlockTimes = ReadonlyMap<number, Date>;

export const readBlockTime = async (
  reader: ChainReader,
  receipt: TransactionReceipt,
): Promise<Date | undefined> => (await readBlockTimes(reader, [receipt])).get(receipt.blockNumber);

/**
 * Returns the block times of these pointers. Requests the headers of blocks whose time is unknown.
 */
export const readBlockTimes = async (
  reader: ChainReader,
  pointers: readonly { blockNumber: number; blockHash: string; timestampSeconds?: number }[],
): Promise<BlockTimes> => {
  const times = new Map<number, Date>();
  const missingTimes = new Map<number, string>();
  for (const { blockNumber, blockHash, timestampSeconds } of pointers) {
    if (timestampSeconds === undefined) missingTimes.set(blockNumber, blockHash);
    else times.set(blockNumber, toDate(timestampSeconds));
  }
  for (const range of groupIntoRanges([...missingTimes.keys()].sort((a, b) => a - b))) {
    for (const header of await reader.readHeaders(range)) {
      const blockHash = missingTimes.get(header.number);
      if (blockHash === undefined) continue;
      if (blockHash !== header.hash)
        throw new ChainMovedError("a pointer's block no longer exists");
      times.set(header.number, toDate(header.timestampSeconds));
    }
  }
  return times;
};

const gapBlocksMax = 4;
const runBlocksMax = 100;

/** Groups ascending block numbers into ranges with few other blocks in between. */
const groupIntoRanges = (numbers: readonly number[]): { fromBlock: number; toBlock: number }[] => {
  const ranges: { fromBlock: number; toBlock: number }[] = [];
  for (const number of numbers) {
    const lastRange = ranges.at(-1);
    const isNear =
      lastRange !== undefined &&
      number - lastRange.toBlock <= gapBlocksMax &&
      number - lastRange.fromBlock < runBlocksMax;
    if (isNear) lastRange.toBlock = number;
    else ranges.push({ fromBlock: number, toBlock: number });
  }
  return ranges;
};

const getBlockTime = (times: BlockTimes, number: number): Date => {
  const time = times.get(number);
  if (time === undefined) throw new ChainMovedError("a pointer's block no longer exists");
  return time;
};

/**
 * Returns whether a payment's block is as deep as the payment's amount requires. `settledBlock` is
 * the last block whose payments settle without extra confirmations.
 */
export const hasEnoughConfirmations = (
  { getExtraConfirmations = () => 0 }: Pick<WatchedChain, "getExtraConfirmations">,
  payment: Pick<Transfer, "amount" | "blockNumber" | "sender">,
  settledBlock: number,
): boolean => payment.blockNumber + getExtraConfirmations(payment) <= settledBlock;
