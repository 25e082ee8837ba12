import { type Transfer, toTransferKey } from "../../domain/transfer.ts";
import { findOldestRescan, saveRescan } from "../../store/rescans.ts";
import type { Leadership } from "../../store/watchers.ts";
import { getQuorum } from "../agreement/reach-quorum.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { findAuditLimit, isVerifierError } from "./find-audit-limit.ts";
import { type RereadResult, commitMissedTransfers, rereadBlocks } from "./reread-blocks.ts";

/**
 * Since when too few providers can read the rescan's range, by the clock's `elapsedMs`. Undefined
 * while enough can.
 */
export type RescanState = { tooFewProvidersSinceMs: number | undefined };

/**
 * As long as a provider is paused after failures, so that a provider that recovers can still take
 * part.
 */
const singleProviderAfterMs = 30_000;

/**
 * Runs one step of the oldest rescan, as far as blocks are final. Returns whether it did anything.
 */
export const rescanRange = async (
  watch: WatchContext,
  leadership: Leadership,
  { finalizedTo, state }: { finalizedTo: number; state: RescanState },
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  const rescan = await findOldestRescan(pool, chain.id);
  if (rescan === undefined || rescan.nextBlock > finalizedTo) return false;
  const lastBlock = rescan.nextBlock + chain.settings.rangeBlocksMax - 1;
  const toBlock = Math.min(rescan.toBlock, finalizedTo, lastBlock);
  const range = { fromBlock: rescan.nextBlock, toBlock, finalizedTo };
  const results = await rereadByQuorum(watch, state, range);
  const endBlock = Math.min(...results.map((result) => result.endBlock));
  // If two providers report a transfer in different blocks, settling it decides on the block.
  const missingByKey = new Map<string, Transfer>();
  for (const transfer of results.flatMap((result) => result.missing))
    missingByKey.set(toTransferKey(transfer), transfer);
  await commitMissedTransfers(watch, leadership, [...missingByKey.values()], (tx) =>
    saveRescan(tx, rescan, endBlock),
  );
  if (endBlock >= rescan.toBlock) {
    log.info({ chain: chain.id, from: rescan.fromBlock, to: rescan.toBlock }, "rescan finished");
  }
  return true;
};

/**
 * Rereads a range with two providers, if there are two, because nothing audits a rescan. Whatever
 * either one reports is used. One provider is enough if no other could read the range for a while,
 * because many nodes do not serve old blocks.
 */
const rereadByQuorum = async (
  watch: WatchContext,
  state: RescanState,
  range: { fromBlock: number; toBlock: number; finalizedTo: number },
): Promise<readonly RereadResult[]> => {
  const { chain, clock, log, verifiers } = watch;
  const results: RereadResult[] = [];
  let firstError: unknown;
  for (const verifier of verifiers) {
    if (results.length === getQuorum(verifiers)) break;
    try {
      const toBlock = await findAuditLimit(watch, verifier, range);
      const rereadRange = { ...range, toBlock, isThorough: true };
      results.push(await rereadBlocks(watch, verifier.reader, rereadRange));
    } catch (error) {
      if (!isVerifierError(error)) throw error;
      firstError ??= error;
    }
  }
  if (results.length === getQuorum(verifiers)) {
    state.tooFewProvidersSinceMs = undefined;
    return results;
  }
  state.tooFewProvidersSinceMs ??= clock.elapsedMs();
  if (
    results.length === 0 ||
    clock.elapsedMs() - state.tooFewProvidersSinceMs < singleProviderAfterMs
  )
    throw firstError;
  const { fromBlock, toBlock } = range;
  const logFields = { chain: chain.id, from: fromBlock, to: toBlock, err: firstError };
  log.warn(logFields, "rescan read by only one provider");
  return results;
};
