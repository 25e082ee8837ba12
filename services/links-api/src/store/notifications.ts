import { type OutgoingEvent, createOutgoingEvent, publish } from "@payment-links/bus";
import {
  createDeterministicId,
  depositUnmatched,
  paymentNotApplied,
  paymentReceived,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deposit } from "../domain/deposit.ts";
import type { SettlementResult } from "../domain/evaluate-settlement.ts";
import type { Link } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";

type PaymentResult = SettlementResult & {
  linkBefore: Pick<Link, "userId" | "description">;
  storedPayment: Pick<Payment, "status"> | undefined;
};

/**
 * Publishes that payments were credited, or that they settled and need attention (rule MAIL-3). A
 * duplicate does not need attention, because the other report of the same transfer has it.
 */
export const publishPaymentNotifications = (
  tx: Transaction,
  results: readonly PaymentResult[],
  now: Date,
): Promise<void> =>
  publish(
    tx,
    results.flatMap((result) => createPaymentNotification(result, now)),
  );

const createPaymentNotification = (
  { credit, linkBefore, payment, storedPayment }: PaymentResult,
  now: Date,
): OutgoingEvent[] => {
  const { userId: accountId, description } = linkBefore;
  const { amount, chainId, id, linkId, reason, tokenAddress } = payment;
  const data = { accountId, amount, chainId, tokenAddress, linkId, description };
  const fields = { key: accountId, occurredAt: now };
  if (credit !== undefined) {
    const event = createOutgoingEvent(paymentReceived, {
      ...fields,
      id: createDeterministicId("evt", [paymentReceived.type, id]),
      data: { ...data, isLinkCompleted: credit.isCompleted },
    });
    return [event];
  }
  const hasSettled = payment.status === "settled" && storedPayment?.status !== "settled";
  if (!hasSettled || reason === null || reason === "duplicate") return [];
  const event = createOutgoingEvent(paymentNotApplied, {
    ...fields,
    id: createDeterministicId("evt", [paymentNotApplied.type, id]),
    data: { ...data, reason },
  });
  return [event];
};

type OwnDeposit = Pick<Deposit, "amount" | "chainId" | "id" | "tokenAddress" | "userId">;

/** Publishes that deposits have settled for which their accounts must choose a link. */
export const publishDepositNotifications = (
  tx: Transaction,
  deposits: readonly OwnDeposit[],
  now: Date,
): Promise<void> =>
  publish(
    tx,
    deposits.map(({ amount, chainId, id, tokenAddress, userId: accountId }) =>
      createOutgoingEvent(depositUnmatched, {
        key: accountId,
        occurredAt: now,
        id: createDeterministicId("evt", [depositUnmatched.type, id, accountId]),
        data: { accountId, amount, chainId, tokenAddress },
      }),
    ),
  );
