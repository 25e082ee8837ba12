import { transact } from "@payment-links/postgres";
import { deleteBlocksBelow, findBlockUpTo, insertBlocks } from "../../store/chain-blocks.ts";
import { type Leadership, moveCheckpoint } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { agreeOnBlock } from "./agree-on-block.ts";
import { getQuorum } from "./reach-quorum.ts";
import { readAnchor } from "./read-anchor.ts";
import type { ObservedHeads } from "./read-observed-heads.ts";

/**
 * Advances the final block to the newest scanned block whose hash two providers confirm and which
 * both consider final. Demotes providers that two others contradict. Returns the final block, and
 * how many providers agree on the block that was checked.
 */
export const confirmFinalizedBlock = async (
  watch: WatchContext,
  leadership: Leadership,
  {
    scannedTo,
    finalizedTo,
    observedHeads,
  }: { scannedTo: number; finalizedTo: number; observedHeads: ObservedHeads },
): Promise<{ finalizedTo: number; agreeingProviderCount: number }> => {
  const { chain, demote, pool, verifiers } = watch;
  const { agreedLimits, limitsByProvider } = observedHeads;
  if (limitsByProvider.size < getQuorum(verifiers))
    return { finalizedTo, agreeingProviderCount: limitsByProvider.size };
  const toBlock = Math.max(finalizedTo, Math.min(agreedLimits.finalizedBlock, scannedTo));
  const storedBlock = await findBlockUpTo(pool, chain.id, toBlock);
  if (storedBlock === undefined) return { finalizedTo, agreeingProviderCount: 0 };
  const listVerifiersFinalTo = (blockNumber: number) =>
    verifiers.filter(({ id }) => (limitsByProvider.get(id)?.finalizedBlock ?? -1) >= blockNumber);
  const anchorOptions = {
    ableVerifiers: listVerifiersFinalTo(toBlock),
    finalizedBlock: toBlock,
    storedBlockNumber: storedBlock.number,
    scannedTo,
  };
  const anchor = await readAnchor(watch, anchorOptions);
  const finalizedBlock = anchor ?? storedBlock;
  const { number } = finalizedBlock;
  const ableVerifiers = listVerifiersFinalTo(number);
  const { dissentingProviders, hash, agreeingProviderCount } = await agreeOnBlock(
    watch,
    number,
    ableVerifiers,
  );
  if (dissentingProviders.length > 0) demote(dissentingProviders);
  if (hash !== finalizedBlock.hash || number <= finalizedTo)
    return { finalizedTo, agreeingProviderCount };
  await transact(pool, async (tx) => {
    await moveCheckpoint(
      tx,
      leadership,
      { scannedTo, finalizedTo },
      { scannedTo, finalizedTo: number },
    );
    await deleteBlocksBelow(tx, chain.id, number);
    if (anchor !== undefined) await insertBlocks(tx, chain.id, [anchor]);
  });
  return { finalizedTo: number, agreeingProviderCount };
};
