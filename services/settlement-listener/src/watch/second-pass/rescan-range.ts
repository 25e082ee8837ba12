import { findRescan, saveRescan } from "../../store/rescans.ts";
import type { Lead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { readAgain, commitMissed } from "./read-again.ts";

/** One step of the oldest rescan that final blocks allow; answers whether it did anything. */
export const rescanRange = async (
  watch: WatchContext,
  lead: Lead,
  finalizedTo: number,
): Promise<boolean> => {
  const { chain, log, pool, reader } = watch;
  const asked = await findRescan(pool, chain.id);
  if (asked === undefined || asked.nextBlock > finalizedTo) return false;
  const lastBlock = asked.nextBlock + chain.settings.rangeBlocksMax - 1;
  const toBlock = Math.min(asked.toBlock, finalizedTo, lastBlock);
  const range = { fromBlock: asked.nextBlock, toBlock, finalizedTo, isThorough: true };
  const pass = await readAgain(watch, reader, range);
  await commitMissed(watch, lead, pass.missing, (tx) => saveRescan(tx, asked, pass.end));
  if (pass.end >= asked.toBlock) {
    log.info({ chain: chain.id, from: asked.fromBlock, to: asked.toBlock }, "a rescan is done");
  }
  return true;
};
