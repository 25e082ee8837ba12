import type { Request, Response } from "express";
import { body, integer, invalid, refuse, required } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { recordStoredTransfers } from "../sightings/record-transfers.ts";
import { deleteBlocksAbove } from "../store/chain-blocks.ts";
import { orphanTransfers } from "../store/chain-transfers.ts";
import { cutSpansAbove } from "../store/read-spans.ts";
import { deleteScannedAbove } from "../store/scanned-heights.ts";
import { resetProgress, lockHaltedChain } from "../store/watchers.ts";
import { chainIdField } from "./chain-id-field.ts";

/** The body of an operator's word that a halted chain may go on. */
const ResumeRequest = body({
  chainId: chainIdField,
  /** The last block that the chain has in common with what it was before. */
  sharedBlock: required(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
});

/**
 * POST /internal/settlement/resume: lifts a halt, once a human knows which chain is the true one.
 * What was seen above the last shared block is orphaned; settled payments keep their credit and are
 * flagged. The watch begins anew at that block, so that nothing above it is left unread. 404 for a
 * chain that is not halted.
 */
export const resumeChain =
  ({ clock, log, pool, reportOrphanedSettled, wakeRelay }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId, sharedBlock } = await readBody(req, ResumeRequest);
    const { flagged, orphanedCount } = await transact(pool, async (tx) => {
      const halted = await lockHaltedChain(tx, chainId);
      if (halted === undefined) throw refuse("NOT_FOUND");
      if (sharedBlock >= halted.scannedTo) throw invalid("less_than_equal");
      const orphaned = await orphanTransfers(tx, chainId, sharedBlock);
      const flagged = await recordStoredTransfers(tx, orphaned, clock.now());
      await deleteBlocksAbove(tx, chainId, -1);
      await deleteScannedAbove(tx, chainId, sharedBlock);
      await cutSpansAbove(tx, chainId, sharedBlock);
      await resetProgress(tx, chainId, sharedBlock);
      return { flagged, orphanedCount: orphaned.length };
    });
    wakeRelay();
    log.warn({ chain: chainId, sharedBlock, orphaned: orphanedCount }, "a halt was lifted");
    reportOrphanedSettled(chainId, flagged);
    answerJson(res, 202, { chainId, sharedBlock, orphanedCount });
  };
