import { transact } from "@payment-links/postgres";
import { recordStoredTransfers } from "../../payment-reports/record-transfers.ts";
import { deleteBlocksAbove, findBlock, listBlocks } from "../../store/chain-blocks.ts";
import { orphanTransfers } from "../../store/chain-transfers.ts";
import { truncateReadSpansAbove } from "../../store/read-spans.ts";
import { deleteScannedHeightsAbove } from "../../store/scanned-heights.ts";
import {
  type Leadership,
  haltChain,
  lockLeadership,
  moveCheckpoint,
} from "../../store/watchers.ts";
import { agreeOnBlock } from "../agreement/agree-on-block.ts";
import { reportOrphanedSettled } from "../chain/report-orphaned-settled.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "@payment-links/chains/chain-reader";

type ScanPosition = { tip: number; scannedTo: number; finalizedTo: number };

/**
 * Handles a reorg. Finds the last block that both the node and the database have. One transaction
 * deletes the stored blocks above it, marks the transfers in blocks that the node no longer has as
 * orphaned, and moves the checkpoint. If even the last final block differs, halts the chain for an
 * operator (rule CHAIN-7). Ignores a node that two others contradict.
 */
export const handleReorg = async (
  watch: WatchContext,
  leadership: Leadership,
  position: ScanPosition,
): Promise<void> => {
  if (watch.verifiers.length > 2) await assertBlockReplaced(watch, position.tip);
  const fork = await findFork(watch, watch.reader, position);
  // The node switched back to the stored chain between two requests.
  if (fork?.ancestor === position.tip) throw new ChainMovedError("the tip did not change");
  if (fork === undefined) await haltChainForOperator(watch, leadership, position);
  else await rollBack(watch, leadership, { ...position, ...fork });
};

/** Throws if two providers still have the stored block, so that no reorg is handled. */
const assertBlockReplaced = async (watch: WatchContext, number: number): Promise<void> => {
  const storedBlock = await findBlock(watch.pool, watch.chain.id, number);
  const { dissentingProviders, hash } = await agreeOnBlock(watch, number);
  if (hash === undefined || hash !== storedBlock?.hash) return;
  watch.demote(dissentingProviders);
  throw new ChainMovedError(`a provider contradicts two others on block ${number}`);
};

const chunkBlocksMin = 8;
const chunkBlocksMax = 128;

type Fork = {
  /**
   * The highest block between the last final block and the tip that both the database and the node
   * have.
   */
  ancestor: number;
  /**
   * The hashes of the node's blocks from the ancestor to the tip. Only the last block of a wide
   * range is stored, so blocks between the ancestor and the actual fork can still be canonical.
   */
  hashes: readonly string[];
};

const findFork = async (
  { chain, pool }: WatchContext,
  reader: ChainReader,
  { tip, finalizedTo }: ScanPosition,
): Promise<Fork | undefined> => {
  const nodeHashes: string[] = [];
  let chunkBlocks = chunkBlocksMin;
  let toBlock = tip;
  while (toBlock >= finalizedTo) {
    const fromBlock = Math.max(toBlock - chunkBlocks + 1, finalizedTo);
    const headers = await reader.readHeaders({ fromBlock, toBlock });
    const hashes = new Map(headers.map((header): [number, string] => [header.number, header.hash]));
    nodeHashes.push(...hashes.values());
    const storedBlocks = await listBlocks(pool, chain.id, { fromBlock, toBlock });
    const commonBlock = storedBlocks.findLast((block) => hashes.get(block.number) === block.hash);
    if (commonBlock !== undefined) return { ancestor: commonBlock.number, hashes: nodeHashes };
    // Missing blocks do not contradict the stored ones, so they are not evidence of a reorg.
    if (headers.length < toBlock - fromBlock + 1) {
      throw new ChainMovedError("the node is missing blocks below its head");
    }
    toBlock = fromBlock - 1;
    chunkBlocks = Math.min(chunkBlocks * 2, chunkBlocksMax);
  }
  return undefined;
};

const rollBack = async (
  watch: WatchContext,
  leadership: Leadership,
  { ancestor, hashes, scannedTo, finalizedTo }: ScanPosition & Fork,
): Promise<void> => {
  const { chain, clock, log, metrics, pool, wakeRelay } = watch;
  const { orphanedPayments, orphanedTransfers } = await transact(pool, async (tx) => {
    const from = { scannedTo, finalizedTo };
    await moveCheckpoint(tx, leadership, from, { scannedTo: ancestor, finalizedTo });
    await deleteBlocksAbove(tx, chain.id, ancestor);
    await deleteScannedHeightsAbove(tx, chain.id, ancestor);
    await truncateReadSpansAbove(tx, chain.id, ancestor);
    const orphanedTransfers = await orphanTransfers(tx, chain.id, ancestor, hashes);
    const orphanedPayments = await recordStoredTransfers(tx, orphanedTransfers, clock.now());
    return { orphanedPayments, orphanedTransfers };
  });
  wakeRelay();
  const depth = scannedTo - ancestor;
  metrics.observeReorgDepth(chain.id, depth);
  metrics.countTransfers(chain.id, "orphaned", orphanedTransfers.length);
  log.warn(
    { chain: chain.id, depth, ancestor, orphaned: orphanedTransfers.length },
    "reorg orphaned scanned blocks",
  );
  reportOrphanedSettled(watch, chain.id, orphanedPayments);
};

/**
 * Halts a chain. With two or more providers, two must agree on a different final block. Otherwise
 * one faulty provider could stop a chain.
 */
const haltChainForOperator = async (
  watch: WatchContext,
  leadership: Leadership,
  position: ScanPosition,
): Promise<void> => {
  const { chain, demote, log, metrics, pool } = watch;
  const { finalizedTo } = position;
  const storedBlock = await findBlock(pool, chain.id, finalizedTo);
  const { dissentingProviders, hash } = await agreeOnBlock(watch, finalizedTo);
  if (hash === undefined || hash === storedBlock?.hash) {
    demote(dissentingProviders);
    metrics.countAuditDifferences(chain.id, "final_hash", 1);
    log.error(
      { chain: chain.id, finalized_to: finalizedTo },
      "providers disagree on a final block",
    );
    throw new ChainMovedError(`providers disagree on the final block ${finalizedTo}`);
  }
  const reason = `a reorg reached below block ${finalizedTo}, which had been recorded as final`;
  await transact(pool, async (tx) => {
    await lockLeadership(tx, leadership);
    await haltChain(tx, chain.id, reason);
  });
  log.fatal({ chain: chain.id, finalized_to: finalizedTo }, `chain halted: ${reason}`);
};
