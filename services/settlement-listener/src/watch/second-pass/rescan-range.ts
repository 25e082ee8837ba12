import type { ChainTransfer } from "../../domain/chain-transfer.ts";
import { findRescan, saveRescan } from "../../store/rescans.ts";
import type { Lead } from "../../store/watchers.ts";
import { quorumOf } from "../agreement/agree.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { findReach, isOfWitness } from "./find-reach.ts";
import { type Pass, commitMissed, nameOf, readAgain } from "./read-again.ts";

/** One step of the oldest rescan that final blocks allow; answers whether it did anything. */
export const rescanRange = async (
  watch: WatchContext,
  lead: Lead,
  finalizedTo: number,
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  const asked = await findRescan(pool, chain.id);
  if (asked === undefined || asked.nextBlock > finalizedTo) return false;
  const lastBlock = asked.nextBlock + chain.settings.rangeBlocksMax - 1;
  const toBlock = Math.min(asked.toBlock, finalizedTo, lastBlock);
  const passes = await readByTwo(watch, { fromBlock: asked.nextBlock, toBlock, finalizedTo });
  const end = Math.min(...passes.map((pass) => pass.end));
  const missing = new Map<string, ChainTransfer>();
  for (const one of passes.flatMap((pass) => pass.missing)) missing.set(nameOf(one), one);
  await commitMissed(watch, lead, [...missing.values()], (tx) => saveRescan(tx, asked, end));
  if (end >= asked.toBlock) {
    log.info({ chain: chain.id, from: asked.fromBlock, to: asked.toBlock }, "a rescan is done");
  }
  return true;
};

/**
 * Nobody audits a rescan, so two providers read it, where there are two: what either shows is found. One
 * alone is enough where no other can read it: many nodes tell nothing of old blocks.
 */
const readByTwo = async (
  watch: WatchContext,
  range: { fromBlock: number; toBlock: number; finalizedTo: number },
): Promise<readonly Pass[]> => {
  const { chain, log, witnesses } = watch;
  const passes: Pass[] = [];
  let fault: unknown;
  for (const witness of witnesses) {
    if (passes.length === quorumOf(witnesses)) return passes;
    try {
      const toBlock = await findReach(watch, witness, range);
      const thorough = { ...range, toBlock, isThorough: true };
      passes.push(await readAgain(watch, witness.reader, thorough));
    } catch (error) {
      if (!isOfWitness(error)) throw error;
      fault ??= error;
    }
  }
  if (passes.length === 0) throw fault;
  if (passes.length < quorumOf(witnesses)) {
    log.warn({ chain: chain.id, err: fault }, "a rescan is read by one provider alone");
  }
  return passes;
};
