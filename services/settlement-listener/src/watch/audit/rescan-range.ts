import { type Transfer, toTransferKey } from "../../domain/transfer.ts";
import { findOldestRescan, saveRescan } from "../../store/rescans.ts";
import type { Leadership } from "../../store/watchers.ts";
import { getQuorum } from "../agreement/reach-quorum.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { findAuditLimit, isVerifierError } from "./find-audit-limit.ts";
import { type RereadResult, commitMissedTransfers, rereadBlocks } from "./reread-blocks.ts";

/**
 * The time since which too few providers can read the rescan's range, by the clock's `elapsedMs`.
 * Undefined while enough of them can.
 */
export type RescanState = { tooFewProvidersSinceMs: number | undefined };

/**
 * After this time, a rescan continues with a single provider. It is as long as the maximum pause of
 * a failing provider, so that a provider has the time to recover.
 */
const singleProviderAfterMs = 30_000;

/**
 * Runs one step of the oldest rescan, up to the last final block. Returns whether there was
 * anything to do.
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
  // If two providers report a transfer in different blocks, the settlement decides which one is
  // right.
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
 * Rereads a range from two providers, if there are two, because the audit does not check rescans.
 * Uses what either of them reports. If only one provider can read the range for a while, that one
 * is enough, because many nodes do not serve old blocks.
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
