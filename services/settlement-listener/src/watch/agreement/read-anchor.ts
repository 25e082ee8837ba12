import { type ScannedBlock, findBlock } from "../../store/chain-blocks.ts";
import { listDue } from "../../store/open-transfers.ts";
import { blockOf } from "../chain/block-of.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { Witness } from "../chain-reader.ts";
import { lookedFor } from "../transfers/find-transfers.ts";
import { agreeOnBlock } from "./agree-on-block.ts";

/**
 * On a sparse chain, the last final block, where payments wait to settle between it and the newest
 * final one that is kept: a fork goes back to a kept block, and must not pass below them. What was
 * scanned is known to be of that block's chain only while the last scanned block stands on it, by the
 * word of those who call it final.
 */
export const readAnchor = async (
  watch: WatchContext,
  {
    able,
    final,
    kept,
    scannedTo,
  }: { able: readonly Witness[]; final: number; kept: number; scannedTo: number },
): Promise<ScannedBlock | undefined> => {
  const { chain, pool, reader } = watch;
  if (chain.settings.isSparse !== true || kept >= final) return undefined;
  const after = { blockNumber: kept + 1, seq: "0" };
  const asked = { toBlock: final, after, countMax: 1, ...lookedFor(chain) };
  const due = await listDue(pool, chain.id, asked);
  if (due.length === 0) return undefined;
  const scanned = await findBlock(pool, chain.id, scannedTo);
  const tip = await agreeOnBlock(watch, scannedTo, able);
  if (tip.hash === undefined || tip.hash !== scanned?.hash) return undefined;
  const [header] = await reader.readHeaders({ fromBlock: final, toBlock: final });
  const { hash } = await agreeOnBlock(watch, final, able);
  return header === undefined || header.hash !== hash ? undefined : blockOf(header);
};
