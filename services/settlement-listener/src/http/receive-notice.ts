import type { KeyObject } from "node:crypto";
import type { Request, Response } from "express";
import { ApiError, createValidationError, createApiError } from "@payment-links/contracts";
import {
  sendJson,
  checkBodyHeaders,
  readBodyBytes,
  parseJsonBody,
  parsePathParameter,
} from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  type SignatureHeaders,
  checkSignatureHeaders,
  verifySignature,
} from "../domain/notice-signature.ts";
import { SettlementNotice, assertFitsBaseUnits, noticeToPaymentReport } from "../domain/notice.ts";
import type { PaymentReportResult } from "../domain/payment.ts";
import type { NoticeOutcome } from "../metrics.ts";
import { recordNotice } from "../payment-reports/record-notice.ts";

/**
 * POST /settlement-notices/<provider>: receives a provider's notice about a payment (rule
 * NOTICE-1). 202 means that the notice is durably stored. The body is parsed only after its
 * signature has been verified.
 */
export const receiveNotice =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { provider, keys } = findProvider(dependencies, req);
    rejectInvalidHeaders(dependencies, req, provider);
    const bytes = await readBodyBytes(req);
    rejectInvalidSignature(dependencies, req, { provider, keys, bytes });
    const { report, token } = parseNotice(dependencies, req, { provider, bytes });
    const reportContext = { now: dependencies.clock.now(), tokenDecimals: token?.decimals };
    const result = await recordNotice(dependencies.pool, report, reportContext);
    dependencies.wakeRelay();
    reportOutcome(dependencies, provider, result);
    if (result.outcome === "too_fine") throw createValidationError("decimal_max_places");
    sendJson(res, 202, {});
  };

const findProvider = ({ providers, counters }: Dependencies, req: Request) => {
  const provider = parsePathParameter(req, "provider");
  const keys = providers.get(provider);
  if (keys !== undefined) return { provider, keys };
  // The name is untrusted input, so it must not become a metric label.
  counters.countNotice("", "unknown_provider");
  throw createApiError("NOT_FOUND");
};

const outcomesByFault = {
  missing: "unsigned",
  stale: "stale",
  wrong: "wrong_signature",
} as const;

const getSignatureHeaders = (req: Request): SignatureHeaders => ({
  id: req.get("webhook-id"),
  timestamp: req.get("webhook-timestamp"),
  signature: req.get("webhook-signature"),
});

/** Rejects invalid headers before the body is read. */
const rejectInvalidHeaders = (
  { clock, counters }: Dependencies,
  req: Request,
  provider: string,
): void => {
  checkBodyHeaders(req);
  const headerFault = checkSignatureHeaders(getSignatureHeaders(req), clock.now());
  if (headerFault === undefined) return;
  counters.countNotice(provider, outcomesByFault[headerFault]);
  throw createApiError("INVALID_SIGNATURE");
};

const rejectInvalidSignature = (
  { clock, counters }: Dependencies,
  req: Request,
  { provider, keys, bytes }: { provider: string; keys: readonly KeyObject[]; bytes: Buffer },
): void => {
  const headers = getSignatureHeaders(req);
  const verification = verifySignature({ headers, body: bytes, keys, now: clock.now() });
  if (verification === "valid") return;
  counters.countNotice(provider, outcomesByFault[verification]);
  throw createApiError("INVALID_SIGNATURE");
};

const parseNotice = (
  { catalogue, counters }: Dependencies,
  req: Request,
  { provider, bytes }: { provider: string; bytes: Buffer },
) => {
  try {
    const report = noticeToPaymentReport(provider, parseJsonBody(req, bytes, SettlementNotice));
    const token = catalogue.findTokenByAddress(report.chainId, report.tokenAddress);
    assertFitsBaseUnits(report, token);
    return { report, token };
  } catch (error) {
    if (error instanceof ApiError) counters.countNotice(provider, "invalid");
    throw error;
  }
};

const reportOutcome = (
  { counters, log }: Dependencies,
  provider: string,
  result: PaymentReportResult,
): void => {
  const outcome = toNoticeOutcome(result);
  counters.countNotice(provider, outcome);
  if (result.outcome === "too_fine") return;
  const { payment, isConflicting } = result;
  const logFields = { provider, payment_id: payment.id, link_id: payment.paymentLinkId, outcome };
  log.info({ ...logFields, status: payment.status }, "settlement notice stored");
  if (!isConflicting) return;
  counters.countConflict(provider);
  log.warn(logFields, "settlement notice contradicts an earlier one");
};

const toNoticeOutcome = (result: PaymentReportResult): NoticeOutcome => {
  if (result.outcome === "too_fine") return "too_fine";
  if (result.outcome === "repeated") return result.isConflicting ? "conflicting" : "repeated";
  return result.payment.version === 0 ? "parked" : "published";
};
