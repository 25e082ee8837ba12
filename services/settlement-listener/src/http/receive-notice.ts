import type { KeyObject } from "node:crypto";
import type { Request, Response } from "express";
import { Refusal, invalid, refuse } from "@payment-links/contracts";
import { answerJson, checkBodyHeaders, readBytes, readJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { type SignatureHeaders, judgeHeaders, judgeSignature } from "../domain/notice-signature.ts";
import { SettlementNotice, checkBaseUnits, sightingOf } from "../domain/notice.ts";
import type { Judgement } from "../domain/payment.ts";
import type { NoticeOutcome } from "../metrics.ts";
import { recordNotice } from "../sightings/record-notice.ts";

/**
 * POST /settlement-notices/<provider>: a payment as its provider tells of it (rule NOTICE-1). 202
 * says that it is stored durably; whoever did not sign it gets no further than its bytes.
 */
export const receiveNotice =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { provider, keys } = findProvider(deps, req);
    checkHeaders(deps, req, provider);
    const bytes = await readBytes(req);
    checkSignature(deps, req, { provider, keys, bytes });
    const { sighting, token } = readNotice(deps, req, { provider, bytes });
    const context = { now: deps.clock.now(), tokenDecimals: token?.decimals };
    const judgement = await recordNotice(deps.pool, sighting, context);
    deps.wakeRelay();
    reportOutcome(deps, provider, judgement);
    if (judgement.outcome === "too_fine") throw invalid("decimal_max_places");
    answerJson(res, 202, {});
  };

const findProvider = ({ providers, counters }: Deps, req: Request) => {
  const provider = readParam(req, "provider");
  const keys = providers.get(provider);
  if (keys !== undefined) return { provider, keys };
  // The name is a stranger's word, and no label.
  counters.noticed("", "unknown_provider");
  throw refuse("NOT_FOUND");
};

const signatureOutcomes = {
  missing: "unsigned",
  stale: "stale",
  wrong: "wrong_signature",
} as const;

const headersOf = (req: Request): SignatureHeaders => ({
  id: req.get("webhook-id"),
  timestamp: req.get("webhook-timestamp"),
  signature: req.get("webhook-signature"),
});

/** Rejects what no provider sends before a byte of its body is read. */
const checkHeaders = ({ clock, counters }: Deps, req: Request, provider: string): void => {
  checkBodyHeaders(req);
  const fault = judgeHeaders(headersOf(req), clock.now());
  if (fault === undefined) return;
  counters.noticed(provider, signatureOutcomes[fault]);
  throw refuse("INVALID_SIGNATURE");
};

const checkSignature = (
  { clock, counters }: Deps,
  req: Request,
  { provider, keys, bytes }: { provider: string; keys: readonly KeyObject[]; bytes: Buffer },
): void => {
  const headers = headersOf(req);
  const judgement = judgeSignature({ headers, body: bytes, keys, now: clock.now() });
  if (judgement === "valid") return;
  counters.noticed(provider, signatureOutcomes[judgement]);
  throw refuse("INVALID_SIGNATURE");
};

const readNotice = (
  { catalogue, counters }: Deps,
  req: Request,
  { provider, bytes }: { provider: string; bytes: Buffer },
) => {
  try {
    const sighting = sightingOf(provider, readJson(req, bytes, SettlementNotice));
    const token = catalogue.findTokenByAddress(sighting.chainId, sighting.tokenAddress);
    checkBaseUnits(sighting, token);
    return { sighting, token };
  } catch (error) {
    if (error instanceof Refusal) counters.noticed(provider, "invalid");
    throw error;
  }
};

const reportOutcome = ({ counters, log }: Deps, provider: string, judgement: Judgement): void => {
  const outcome = outcomeOf(judgement);
  counters.noticed(provider, outcome);
  if (judgement.outcome === "too_fine") return;
  const { payment, isConflicting } = judgement;
  const line = { provider, payment_id: payment.id, link_id: payment.paymentLinkId, outcome };
  log.info({ ...line, status: payment.status }, "a settlement notice is stored");
  if (!isConflicting) return;
  counters.contradicted(provider);
  log.warn(line, "a settlement notice contradicts an earlier one");
};

const outcomeOf = (judgement: Judgement): NoticeOutcome => {
  if (judgement.outcome === "too_fine") return "too_fine";
  if (judgement.outcome === "repeated") return judgement.isConflicting ? "conflicting" : "repeated";
  return judgement.payment.version === 0 ? "parked" : "published";
};
