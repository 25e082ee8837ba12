import { type ChainTransfer, transferKey } from "../../domain/chain-transfer.ts";
import { findRescan, saveRescan } from "../../store/rescans.ts";
import type { Lead } from "../../store/watchers.ts";
import { quorumOf } from "../agreement/agree.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { findReach, isOfWitness } from "./find-reach.ts";
import { type Pass, commitMissed, readAgain } from "./read-again.ts";

/** Since when too few providers read what is asked, by the clock's `elapsedMs`; undefined while enough do. */
export type RescanMemory = { shortSinceMs: number | undefined };

/** A provider that is away comes back within this, which is as long as one rests after failures. */
const aloneAfterMs = 30_000;

/** One step of the oldest rescan that final blocks allow; answers whether it did anything. */
export const rescanRange = async (
  watch: WatchContext,
  lead: Lead,
  { finalizedTo, memory }: { finalizedTo: number; memory: RescanMemory },
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  const asked = await findRescan(pool, chain.id);
  if (asked === undefined || asked.nextBlock > finalizedTo) return false;
  const lastBlock = asked.nextBlock + chain.settings.rangeBlocksMax - 1;
  const toBlock = Math.min(asked.toBlock, finalizedTo, lastBlock);
  const range = { fromBlock: asked.nextBlock, toBlock, finalizedTo };
  const passes = await readByTwo(watch, memory, range);
  const end = Math.min(...passes.map((pass) => pass.end));
  // Where two show one in two places, what settles it says where it stands.
  const missing = new Map<string, ChainTransfer>();
  for (const one of passes.flatMap((pass) => pass.missing)) missing.set(transferKey(one), one);
  await commitMissed(watch, lead, [...missing.values()], (tx) => saveRescan(tx, asked, end));
  if (end >= asked.toBlock) {
    log.info({ chain: chain.id, from: asked.fromBlock, to: asked.toBlock }, "a rescan is done");
  }
  return true;
};

/**
 * Nobody audits a rescan, so two providers read it, where there are two: what either shows is found. One
 * alone is enough where no other has been able to for a while: many nodes tell nothing of old blocks.
 */
const readByTwo = async (
  watch: WatchContext,
  memory: RescanMemory,
  range: { fromBlock: number; toBlock: number; finalizedTo: number },
): Promise<readonly Pass[]> => {
  const { chain, clock, log, witnesses } = watch;
  const passes: Pass[] = [];
  let fault: unknown;
  for (const witness of witnesses) {
    if (passes.length === quorumOf(witnesses)) break;
    try {
      const toBlock = await findReach(watch, witness, range);
      const thorough = { ...range, toBlock, isThorough: true };
      passes.push(await readAgain(watch, witness.reader, thorough));
    } catch (error) {
      if (!isOfWitness(error)) throw error;
      fault ??= error;
    }
  }
  if (passes.length === quorumOf(witnesses)) {
    memory.shortSinceMs = undefined;
    return passes;
  }
  memory.shortSinceMs ??= clock.elapsedMs();
  if (passes.length === 0 || clock.elapsedMs() - memory.shortSinceMs < aloneAfterMs) throw fault;
  const { fromBlock, toBlock } = range;
  const line = { chain: chain.id, from: fromBlock, to: toBlock, err: fault };
  log.warn(line, "a rescan is read by one provider alone");
  return passes;
};
