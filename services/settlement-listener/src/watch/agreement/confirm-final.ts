import { transact } from "@payment-links/postgres";
import { deleteBlocksBelow, findBlockUpTo, insertBlocks } from "../../store/chain-blocks.ts";
import { type Lead, moveCheckpoint } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { agreeOnBlock } from "./agree-on-block.ts";
import { quorumOf } from "./agree.ts";
import { readAnchor } from "./read-anchor.ts";
import type { Sight } from "./read-sight.ts";

/**
 * Moves the last final block to the newest one that we have scanned, and that two providers hold as
 * we do and call final. Providers that two others contradict are asked last from then on. Answers
 * the last final block, and how many providers stand behind it or what most of them hold.
 */
export const confirmFinal = async (
  watch: WatchContext,
  lead: Lead,
  { scannedTo, finalizedTo, sight }: { scannedTo: number; finalizedTo: number; sight: Sight },
): Promise<{ finalizedTo: number; voiceCount: number }> => {
  const { chain, demote, pool, witnesses } = watch;
  const { agreed, linesOf } = sight;
  if (linesOf.size < quorumOf(witnesses)) return { finalizedTo, voiceCount: linesOf.size };
  const toBlock = Math.max(finalizedTo, Math.min(agreed.final, scannedTo));
  const kept = await findBlockUpTo(pool, chain.id, toBlock);
  if (kept === undefined) return { finalizedTo, voiceCount: 0 };
  const ableFor = (block: number) =>
    witnesses.filter(({ id }) => (linesOf.get(id)?.final ?? -1) >= block);
  const place = { able: ableFor(toBlock), final: toBlock, kept: kept.number, scannedTo };
  const anchor = await readAnchor(watch, place);
  const block = anchor ?? kept;
  const { number } = block;
  const able = ableFor(number);
  const { dissenters, hash, voiceCount } = await agreeOnBlock(watch, number, able);
  if (dissenters.length > 0) demote(dissenters);
  if (hash !== block.hash || number <= finalizedTo) return { finalizedTo, voiceCount };
  await transact(pool, async (tx) => {
    await moveCheckpoint(tx, lead, { scannedTo, finalizedTo }, { scannedTo, finalizedTo: number });
    await deleteBlocksBelow(tx, chain.id, number);
    if (anchor !== undefined) await insertBlocks(tx, chain.id, [anchor]);
  });
  return { finalizedTo: number, voiceCount };
};
