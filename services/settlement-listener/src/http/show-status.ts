import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";
import { readBacklog } from "../store/open-payments.ts";
import { listParked } from "../store/payments.ts";
import { type WatcherRow, listWatchers } from "../store/watchers.ts";

const parkedShownMax = 100;

/** GET /internal/settlement/status: what an operator asks first when a payment is missed. */
export const showStatus =
  (deps: Deps) =>
  async (_req: Request, res: Response): Promise<void> => {
    const { pool, providers } = deps;
    const { parked: parkedBacklog, processing } = await readBacklog(pool);
    const parked = await listParked(pool, parkedShownMax);
    const watchers = new Map((await listWatchers(pool)).map((row) => [row.chainId, row]));
    answerJson(res, 200, {
      providers: [...providers.keys()],
      chains: deps.chainIds.map((chainId) => showChain(deps, chainId, watchers.get(chainId))),
      parkedCount: parkedBacklog.count,
      oldestParkedAt: parkedBacklog.oldestAt,
      processingCount: processing.count,
      oldestProcessingAt: processing.oldestAt,
      parked: parked.map(showParked),
    });
  };

/** Where this process leads a chain it knows best; else the last word of whoever does. */
const showChain = ({ watches }: Deps, chainId: string, row: WatcherRow | undefined) => {
  const watch = watches().find((one) => one.chainId === chainId);
  const providerCount = watch?.providerCount ?? 0;
  const isLeader = watch?.isLeader() ?? false;
  const report = isLeader ? watch?.report() : row;
  const haltedReason = row?.haltedReason ?? null;
  return {
    chainId,
    isLeader,
    state: haltedReason === null ? (report?.state ?? "unreachable") : "halted",
    reason: haltedReason ?? report?.reason ?? null,
    head: report?.head ?? null,
    firstBlock: row?.firstBlock ?? null,
    scannedTo: row?.scannedTo ?? null,
    finalizedTo: row?.finalizedTo ?? null,
    // A lone provider is believed, and nobody audits it.
    providerCount,
    auditedTo: providerCount > 1 ? (row?.auditedTo ?? null) : null,
    orphanedSettledCount: row?.orphanedSettledCount ?? 0,
  };
};

const showParked = (payment: Payment) => ({
  id: payment.id,
  source: payment.source,
  sourceId: payment.sourceId,
  paymentLinkId: payment.paymentLinkId,
  status: payment.status,
  firstSeenAt: payment.firstSeenAt.toISOString(),
});
