import type { Request, Response } from "express";
import { body, integer, invalid, refuse, required, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { recordStoredTransfers } from "../sightings/record-transfers.ts";
import { deleteBlocksAbove } from "../store/chain-blocks.ts";
import { orphanTransfers } from "../store/chain-transfers.ts";
import { insertRescan } from "../store/rescans.ts";
import { resetProgress, lockHaltedChain } from "../store/watchers.ts";

const chainIdLengthMax = 40;

/** The body of an operator's word that a halted chain may go on. */
const ResumeRequest = body({
  chainId: required(text({ lengthMin: 1, lengthMax: chainIdLengthMax })),
  /** The last block that the chain has in common with what it was before. */
  sharedBlock: required(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
});

/**
 * POST /internal/settlement/resume: lifts a halt, once a human knows which chain is the true one.
 * What was seen above the last shared block is orphaned; settled payments keep their credit and are
 * flagged. The watch begins anew at the chain's own final block, and what lies between is read
 * again. 404 for a chain that is not halted.
 */
export const resumeChain =
  ({ clock, log, pool, wakeRelay }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId, sharedBlock } = await readBody(req, ResumeRequest);
    const orphanedCount = await transact(pool, async (tx) => {
      const halted = await lockHaltedChain(tx, chainId);
      if (halted === undefined) throw refuse("NOT_FOUND");
      const { scannedTo } = halted;
      if (sharedBlock >= scannedTo) throw invalid("less_than_equal");
      const askedAt = clock.now();
      const orphaned = await orphanTransfers(tx, chainId, sharedBlock);
      await recordStoredTransfers(tx, orphaned, askedAt);
      await deleteBlocksAbove(tx, chainId, -1);
      await resetProgress(tx, chainId);
      await insertRescan(tx, { chainId, fromBlock: sharedBlock + 1, toBlock: scannedTo, askedAt });
      return orphaned.length;
    });
    wakeRelay();
    log.warn({ chain: chainId, sharedBlock, orphaned: orphanedCount }, "a halt was lifted");
    answerJson(res, 202, { chainId, sharedBlock, orphanedCount });
  };
