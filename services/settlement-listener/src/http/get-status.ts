import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { readBacklog } from "../store/open-payments.ts";
import { listDeferredPayments } from "../store/payments.ts";
import { type WatcherRow, listWatchers } from "../store/watchers.ts";

const deferredPaymentsMax = 100;

/**
 * GET /internal/settlement/status: returns the state of each chain and the backlog of payments.
 * Operators look here first when a payment is missing.
 */
export const getStatus =
  (dependencies: Dependencies) =>
  async (_req: Request, res: Response): Promise<void> => {
    const { pool, providers } = dependencies;
    const { deferred: deferredBacklog, processing: processingBacklog } = await readBacklog(pool);
    const deferredPayments = await listDeferredPayments(pool, deferredPaymentsMax);
    const rowsByChain = new Map((await listWatchers(pool)).map((row) => [row.chainId, row]));
    sendJson(res, 200, {
      providers: [...providers.keys()],
      chains: dependencies.chains.ids.map((chainId) =>
        serializeChain(dependencies, chainId, rowsByChain.get(chainId)),
      ),
      parkedCount: deferredBacklog.count,
      oldestParkedAt: deferredBacklog.oldestAt,
      processingCount: processingBacklog.count,
      oldestProcessingAt: processingBacklog.oldestAt,
      parked: deferredPayments.map(serializeDeferredPayment),
    });
  };

/**
 * Uses this process's current report if it is the chain's leader, otherwise the report that the
 * leader stored.
 */
const serializeChain = ({ chains }: Dependencies, chainId: string, row: WatcherRow | undefined) => {
  const watch = chains.watches().find((runningWatch) => runningWatch.chainId === chainId);
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
    // A single provider is trusted, and its blocks are not audited by another one.
    providerCount,
    auditedTo: providerCount > 1 ? (row?.auditedTo ?? null) : null,
    orphanedSettledCount: row?.orphanedSettledCount ?? 0,
  };
};

const serializeDeferredPayment = (payment: Payment) => ({
  id: payment.id,
  source: payment.source,
  sourceId: payment.sourceId,
  paymentLinkId: payment.paymentLinkId,
  status: payment.status,
  firstSeenAt: payment.firstSeenAt.toISOString(),
});
