import assert from "node:assert/strict";
import type { Request, Response } from "express";
import type { ChunkHandler } from "@payment-links/bus";
import {
  type SettlementState,
  SimulatePaymentBody,
  SimulatedPayment,
  createApiError,
  createValidationError,
  fitsBaseUnits,
  newId,
  type settlementSettled,
} from "@payment-links/contracts";
import { parseJsonBody, parsePathParameter, readBodyBytes, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, afterCommit, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { parseIdempotencyKey } from "../domain/idempotency.ts";
import { type Link, getInactiveReason } from "../domain/link.ts";
import { type Payment, isSimulated } from "../domain/payment.ts";
import { continueSimulation, isFinalOutcome, simulatePayment } from "../domain/simulation.ts";
import { findPayment } from "../store/payments.ts";
import { lockTestLink, requireTestKey } from "./lock-test-link.ts";
import { runOnce } from "./run-once.ts";
import { saveEndedLink } from "./save-ended-link.ts";
import { serializePublicPayment } from "./serialize-payment.ts";

/** Applies settlements in a transaction, as the consumer of their topic does. */
export type ApplySettlements = ChunkHandler<typeof settlementSettled>;

type SimulationRequest = { req: Request; bodyBytes: Buffer; caller: Caller };

/**
 * POST /v1/test/payment-link/:id/pay: simulates a payment on a test link (rule MODE-7). It is
 * evaluated by the same code and published in the same way as a payment that settlement-listener
 * reports.
 */
export const simulateTestPayment =
  (dependencies: Dependencies, applySettlements: ApplySettlements) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    requireTestKey(caller);
    const key = parseIdempotencyKey(req.get("idempotency-key"));
    const bodyBytes = await readBodyBytes(req);
    const request = { req, bodyBytes, caller };
    const run = (tx: Transaction) => runSimulation(tx, dependencies, applySettlements, request);
    const scope = `${caller.account.id}/test/${parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK")}/pay`;
    const response =
      key === undefined
        ? await transact(dependencies.pool, run)
        : (await runOnce(dependencies, { scope, key, bodyBytes, schema: SimulatedPayment }, run))
            .response;
    dependencies.wakeRelay();
    sendJson(res, 200, response);
  };

const runSimulation = async (
  tx: Transaction,
  dependencies: Dependencies,
  applySettlements: ApplySettlements,
  { bodyBytes, caller, req }: SimulationRequest,
): Promise<SimulatedPayment> => {
  const body = parseJsonBody(req, bodyBytes, SimulatePaymentBody);
  const link = await lockTestLink(tx, req, caller);
  const settlements = await buildSettlements(tx, dependencies, { body, link });
  const events = settlements.map((data) => toEvent(data, dependencies.clock.now()));
  await applySettlements(tx, events);
  const payment = await findPayment(tx, settlements[0]?.id ?? "");
  assert.ok(payment !== undefined, "the simulated payment was not stored");
  return { ...serializePublicPayment(payment), paymentLinkId: link.id };
};

const buildSettlements = async (
  tx: Transaction,
  dependencies: Dependencies,
  { body, link }: { body: SimulatePaymentBody; link: Link },
): Promise<SettlementState[]> => {
  const { amount, outcome, payer, paymentId } = body;
  if (paymentId !== null) {
    const nextOutcome = outcome ?? "succeeded";
    if (!isFinalOutcome(nextOutcome)) throw createValidationError("enum");
    return continueSimulation(await requireProcessingPayment(tx, link, paymentId), nextOutcome);
  }
  const { token } = dependencies.getToken(link.tokenId);
  if (amount !== null && !fitsBaseUnits(amount, token.decimals))
    throw createValidationError("decimal_max_digits");
  const now = dependencies.clock.now();
  if (outcome === "late" && getInactiveReason(link, now) !== "expired") {
    await saveEndedLink(tx, "expire", { link, now });
    afterCommit(tx, () => dependencies.counters.countStatusChange("active", "inactive"));
  }
  const otherTokenAddress = findOtherTokenAddress(dependencies, link);
  return simulatePayment({
    link,
    token,
    otherTokenAddress,
    outcome: outcome ?? "succeeded",
    amount,
    payer,
    now,
  });
};

const requireProcessingPayment = async (
  tx: Transaction,
  link: Link,
  paymentId: string,
): Promise<Payment> => {
  const payment = await findPayment(tx, paymentId);
  if (payment?.linkId !== link.id || payment.status !== "processing" || !isSimulated(payment))
    throw createApiError("NOT_FOUND");
  return payment;
};

/**
 * Returns another token of the link's chain. If the catalogue has none, returns an invented one.
 */
const findOtherTokenAddress = ({ catalogue }: Dependencies, link: Link): string =>
  catalogue.tokens.find(({ chainId, id }) => chainId === link.chainId && id !== link.tokenId)
    ?.address ?? link.destinationAddress;

const toEvent = (data: SettlementState, occurredAt: Date) => ({
  data,
  envelope: {
    id: newId("evt"),
    type: `settlement.${data.status}`,
    key: data.paymentLinkId,
    occurredAt,
  },
  traceparent: undefined,
});
