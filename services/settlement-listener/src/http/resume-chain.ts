import type { Request, Response } from "express";
import {
  body,
  integer,
  createValidationError,
  createApiError,
  required,
} from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { recordStoredTransfers } from "../payment-reports/record-transfers.ts";
import { deleteBlocksAbove } from "../store/chain-blocks.ts";
import { orphanTransfers } from "../store/chain-transfers.ts";
import { truncateReadSpansAbove } from "../store/read-spans.ts";
import { deleteScannedHeightsAbove } from "../store/scanned-heights.ts";
import { resetProgress, lockHaltedChain } from "../store/watchers.ts";
import { chainIdField } from "./chain-id-field.ts";

const ResumeRequest = body({
  chainId: chainIdField,
  /** The last block that the correct chain shares with the stored one. */
  sharedBlock: required(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
});

/**
 * POST /internal/settlement/resume: resumes a halted chain, after an operator has found out which
 * chain is the correct one. Transfers above the last shared block become orphaned. Settled payments
 * stay credited and are flagged. The watch restarts at the shared block, so it reads every block
 * above it. 404 if the chain is not halted.
 */
export const resumeChain =
  ({ clock, log, pool, chains, wakeRelay }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId, sharedBlock } = await readJsonBody(req, ResumeRequest);
    const { orphanedPayments, orphanedCount } = await transact(pool, async (tx) => {
      const haltedChain = await lockHaltedChain(tx, chainId);
      if (haltedChain === undefined) throw createApiError("NOT_FOUND");
      if (sharedBlock >= haltedChain.scannedTo) throw createValidationError("less_than_equal");
      const orphanedTransfers = await orphanTransfers(tx, chainId, sharedBlock);
      const orphanedPayments = await recordStoredTransfers(tx, orphanedTransfers, clock.now());
      await deleteBlocksAbove(tx, chainId, -1);
      await deleteScannedHeightsAbove(tx, chainId, sharedBlock);
      await truncateReadSpansAbove(tx, chainId, sharedBlock);
      await resetProgress(tx, chainId, sharedBlock);
      return { orphanedPayments, orphanedCount: orphanedTransfers.length };
    });
    wakeRelay();
    log.warn({ chain: chainId, sharedBlock, orphaned: orphanedCount }, "halted chain resumed");
    chains.reportOrphanedSettled(chainId, orphanedPayments);
    sendJson(res, 202, { chainId, sharedBlock, orphanedCount });
  };
