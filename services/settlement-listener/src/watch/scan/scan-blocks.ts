import type { Transfer } from "../../domain/transfer.ts";
import type { ScanPlan, FinalityLimits } from "../../domain/plan-scan.ts";
import type { ScannedBlock } from "../../store/chain-blocks.ts";
import { toScannedBlock, toDate } from "../chain/to-scanned-block.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { agreeOnSenders } from "../agreement/agree-on-senders.ts";
import {
  type BlockHeader,
  type ChainReader,
  ChainUnreachableError,
} from "@payment-links/chains/chain-reader";
import { type PointerBatch, splitPointers } from "../transfers/split-pointers.ts";
import { findTransfers, readBlockTimes } from "../transfers/find-transfers.ts";

/**
 * The contents of one commit: blocks and their transfers. The last block becomes the checkpoint.
 */
export type ScannedBatch = {
  blocks: readonly ScannedBlock[];
  transfers: readonly Transfer[];
  /** The id of the provider that returned the pointers. */
  providerId: string;
};

type Commit = (batch: ScannedBatch) => Promise<void>;
type Range = { fromBlock: number; toBlock: number };

/**
 * Reads the planned blocks and commits them in order, batch by batch. Reads the next batch while
 * one is being committed. `headers` starts with the tip. Throws {@link ChainMovedError} if the
 * responses belong to two different forks. Earlier commits remain valid.
 */
export const scanBlocks = async (
  watch: WatchContext,
  {
    plan,
    headers,
    limits,
  }: { plan: ScanPlan; headers: readonly BlockHeader[]; limits: FinalityLimits },
  commit: Commit,
): Promise<void> => {
  switch (plan.kind) {
    case "none":
      return;
    case "final":
      return scanFinalized(watch, { range: plan, limits }, commit);
    case "sparse":
      return commitInOrder(readSparse(watch, plan, limits), commit);
    case "fresh":
      return scanFresh(watch, { headers, limits }, commit);
  }
};

/**
 * Scans final blocks in wide ranges, without headers. Stores only the last block of each batch, for
 * comparison in later steps.
 */
const scanFinalized = async (
  watch: WatchContext,
  { range, limits }: { range: Range; limits: FinalityLimits },
  commit: Commit,
): Promise<void> => commitInOrder(readFinalized(watch, range, limits), commit);

/** Reads the planned range in batches. The plan limits its length. */
async function* readFinalized(
  watch: WatchContext,
  { fromBlock, toBlock }: Range,
  limits: FinalityLimits,
): AsyncGenerator<ScannedBatch> {
  const { reader } = watch;
  let previousEnd: BlockHeader | undefined;
  let nextBlock = fromBlock;
  while (nextBlock <= toBlock) {
    if (previousEnd !== undefined) await assertStillCanonical(reader, previousEnd);
    const { pointers, endHeader, providerId } = await reader.readPointers({
      fromBlock: nextBlock,
      toBlock,
    });
    const times = await readBlockTimes(reader, pointers);
    for (const pointerBatch of splitPointers(pointers, endHeader.number)) {
      const query = { pointers: pointerBatch.pointers, times, limits };
      const transfers = await findProviderTransfers(watch, providerId, query);
      const lastHeader =
        pointerBatch.endBlock === endHeader.number
          ? endHeader
          : await readEndHeader(reader, pointerBatch);
      yield { blocks: [toScannedBlock(lastHeader)], transfers, providerId };
    }
    previousEnd = endHeader;
    nextBlock = endHeader.number + 1;
  }
}

/**
 * Reads ranges like `readFinalized`, but up to the head, where a reorg can still orphan blocks.
 * Each range is one batch, because a response can also include pointers that an earlier request
 * deferred.
 */
async function* readSparse(
  watch: WatchContext,
  { fromBlock, toBlock }: Range,
  limits: FinalityLimits,
): AsyncGenerator<ScannedBatch> {
  const { chain, reader } = watch;
  let previousEnd: BlockHeader | undefined;
  let nextBlock = fromBlock;
  while (nextBlock <= toBlock) {
    if (previousEnd !== undefined) await assertStillCanonical(reader, previousEnd);
    const endBlock = Math.min(toBlock, nextBlock + chain.settings.rangeBlocksMax - 1);
    const blockRange = { fromBlock: nextBlock, toBlock: endBlock };
    const { pointers, endHeader, providerId } = await reader.readPointers(blockRange);
    const times = await readBlockTimes(reader, pointers);
    const transfers = await findProviderTransfers(watch, providerId, { pointers, times, limits });
    yield {
      blocks: [toScannedBlock(endHeader)],
      transfers: await addNonces(watch, transfers),
      providerId,
    };
    previousEnd = endHeader;
    nextBlock = endHeader.number + 1;
  }
}

/**
 * Finds the transfers of the given pointers. Reads their receipts from the provider that returned
 * the pointers, so only that provider can have hidden transfers from the scan. The audit uses
 * another provider and finds them.
 */
const findProviderTransfers = async (
  { chain, reader, missingReceipts, verifiers }: WatchContext,
  providerId: string,
  query: Parameters<typeof findTransfers>[1],
): Promise<readonly Transfer[]> => {
  const sourceVerifier = verifiers.find(({ id }) => id === providerId);
  try {
    return await findTransfers(
      { chain, reader: sourceVerifier?.reader ?? reader, listAwaited: missingReceipts.listAwaited },
      query,
    );
  } catch (error) {
    if (verifiers.length === 1 || !(error instanceof ChainUnreachableError)) throw error;
    // Other providers can still answer, so the step is repeated. If the problem persists, another
    // provider is preferred.
    throw new ChainMovedError("the provider of the pointers does not return their receipts");
  }
};

/** Throws if a block is no longer canonical, because the next range must be on the same fork. */
const assertStillCanonical = async (
  reader: ChainReader,
  { number, hash }: BlockHeader,
): Promise<void> => {
  const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
  if (header?.hash !== hash) throw new ChainMovedError("a scanned block no longer exists");
};

/**
 * Scans new blocks. Their headers must continue the tip without gaps, and the pointers must be in
 * exactly these blocks.
 */
const scanFresh = async (
  watch: WatchContext,
  {
    headers: [tip, ...following],
    limits,
  }: { headers: readonly BlockHeader[]; limits: FinalityLimits },
  commit: Commit,
): Promise<void> => {
  const [firstHeader, lastHeader] = [following[0], following.at(-1)];
  if (tip === undefined || firstHeader === undefined || lastHeader === undefined) return;
  const { reader } = watch;
  assertConsecutive([tip, ...following]);
  const range = { fromBlock: firstHeader.number, toBlock: lastHeader.number, headers: following };
  const { pointers, endHeader, providerId } = await reader.readPointers(range);
  const coveredHeaders = following.filter((header) => header.number <= endHeader.number);
  const hashes = new Map(coveredHeaders.map((header) => [header.number, header.hash]));
  const areInHeaders = pointers.every(
    (pointer) => hashes.get(pointer.blockNumber) === pointer.blockHash,
  );
  if (coveredHeaders.at(-1)?.hash !== endHeader.hash || !areInHeaders) {
    throw new ChainMovedError("pointers and headers belong to different chains");
  }
  const times = new Map(
    coveredHeaders.map(({ number, timestampSeconds }) => [number, toDate(timestampSeconds)]),
  );
  const blocks = coveredHeaders.map(toScannedBlock);
  const readBatches = async function* (): AsyncGenerator<ScannedBatch> {
    let committedTo = tip.number;
    for (const { pointers: batchPointers, endBlock } of splitPointers(pointers, endHeader.number)) {
      const transfers = await findProviderTransfers(watch, providerId, {
        pointers: batchPointers,
        times,
        limits,
      });
      const batchBlocks = blocks.filter(({ number }) => number > committedTo && number <= endBlock);
      yield { blocks: batchBlocks, transfers: await addNonces(watch, transfers), providerId };
      committedTo = endBlock;
    }
  };
  await commitInOrder(readBatches(), commit);
};

/** Commits batches in order. Reads the next batch while one is being committed. */
const commitInOrder = async (
  batches: AsyncGenerator<ScannedBatch>,
  commit: Commit,
): Promise<void> => {
  let pendingBatch = batches.next();
  for (;;) {
    const { done, value } = await pendingBatch;
    if (done === true) return;
    pendingBatch = batches.next();
    // If the commit fails, nothing awaits this promise, so its rejection must be handled here.
    pendingBatch.catch(() => {});
    await commit(value);
  }
};

/** Returns the header of a batch's last block, which contains the last pointer. */
const readEndHeader = async (
  reader: ChainReader,
  { pointers, endBlock }: PointerBatch,
): Promise<BlockHeader> => {
  const [header] = await reader.readHeaders({ fromBlock: endBlock, toBlock: endBlock });
  if (header === undefined || header.hash !== pointers.at(-1)?.blockHash) {
    throw new ChainMovedError("a pointer's block no longer exists");
  }
  return header;
};

const assertConsecutive = (headers: readonly BlockHeader[]): void => {
  const isConsecutive = headers.every((header, index) => {
    const previousHeader = headers[index - 1];
    if (previousHeader === undefined) return true;
    return header.number === previousHeader.number + 1 && header.parentHash === previousHeader.hash;
  });
  if (!isConsecutive) throw new ChainMovedError("headers are not consecutive");
};

/**
 * Adds nonces and senders to unsettled transfers, as agreed by a quorum. The nonce later shows
 * whether an orphaned transaction can still be mined. It is requested now, while nodes still know
 * the transaction. `audit/backfill-nonces.ts` requests missing nonces again.
 */
const addNonces = async (
  watch: WatchContext,
  transfers: readonly Transfer[],
): Promise<readonly Transfer[]> => {
  const unsettledTransfers = transfers.filter(({ status }) => status === "seen");
  const hashes = [...new Set(unsettledTransfers.map(({ transactionHash }) => transactionHash))];
  const senders = await agreeOnSenders(watch, hashes);
  return transfers.map((transfer) => {
    const sender = senders.get(transfer.transactionHash);
    if (sender === undefined) return { ...transfer, nonce: undefined };
    return { ...transfer, sender: sender.address, nonce: sender.nonce };
  });
};
