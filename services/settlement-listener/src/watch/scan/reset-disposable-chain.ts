import { transact } from "@payment-links/postgres";
import { deleteBlocksAbove, findBlock } from "../../store/chain-blocks.ts";
import { deleteChainTransfers } from "../../store/chain-transfers.ts";
import { clearPaymentBlocks } from "../../store/open-payments.ts";
import { truncateReadSpansAbove } from "../../store/read-spans.ts";
import { deleteScannedHeightsAbove } from "../../store/scanned-heights.ts";
import {
  type Leadership,
  resetProgress,
  lockLeadership,
  readProgress,
} from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/** The first block of a chain whose settings do not specify one. */
const genesisBlock = 0;

/**
 * Deletes the stored state of a development chain that has been restarted. A restarted chain does
 * not have the last final block that is stored. Scanning begins at its first block, because links
 * may have been paid on it before this service started. Payments of the old chain are kept.
 */
export const resetDisposableChain = async (
  watch: WatchContext,
  leadership: Leadership,
): Promise<void> => {
  const { chain, log, pool } = watch;
  if (!chain.settings.isDisposable) return;
  const { finalizedTo } = await readProgress(pool, chain.id);
  if (finalizedTo === null || (await isStillCanonical(watch, finalizedTo))) return;
  await transact(pool, async (tx) => {
    await lockLeadership(tx, leadership);
    await deleteBlocksAbove(tx, chain.id, -1);
    await deleteScannedHeightsAbove(tx, chain.id, -1);
    await truncateReadSpansAbove(tx, chain.id, -1);
    await deleteChainTransfers(tx, chain.id);
    await clearPaymentBlocks(tx, chain.id);
    await resetProgress(tx, chain.id, chain.settings.firstBlock ?? genesisBlock);
  });
  log.warn({ chain: chain.id }, "chain was reset, deleting the data of the old chain");
};

const isStillCanonical = async (
  { chain, pool, reader }: WatchContext,
  number: number,
): Promise<boolean> => {
  const storedBlock = await findBlock(pool, chain.id, number);
  const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
  return storedBlock !== undefined && header?.hash === storedBlock.hash;
};
