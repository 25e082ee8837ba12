import * as z from "zod";
import { PaymentLinkData } from "../payment-link.ts";
import { body, nullable, oneOf, positiveDecimal, text } from "../validation.ts";
import { type Operation, wireInstant } from "./operation.ts";
import { paymentFields } from "./payment-links.ts";
import { paymentIdParser } from "./refunds.ts";

/**
 * What happens to a simulated payment:
 * - `succeeded`: it settles, and counts if the link still accepts payments
 * - `late`: it arrives after the link has expired; a link that has not expired expires first
 * - `wrong_token`, `wrong_destination`, `wrong_amount`: it settles, but does not count
 * - `orphaned`: it settles, and the chain drops it afterwards
 * - `processing`: it is detected, but not final yet
 * - `failed`: it is detected, but never becomes final
 */
export const simulatedOutcomes = [
  "succeeded",
  "late",
  "wrong_token",
  "wrong_destination",
  "wrong_amount",
  "orphaned",
  "processing",
  "failed",
] as const;
export type SimulatedOutcome = (typeof simulatedOutcomes)[number];

/** The body that simulates a payment. Every field is optional. */
export const SimulatePaymentBody = body({
  amount: nullable(positiveDecimal).describe(
    "In the link's token. Defaults to the amount that is missing, or to the link's amount if none is.",
  ),
  outcome: nullable(oneOf(simulatedOutcomes)).describe(
    "What happens to the payment. Defaults to `succeeded`. `late` means that it arrives after the link has expired, " +
      "which expires the link if it has not. `processing` leaves it unconfirmed. `orphaned` means that it settles, and " +
      "that a reorganization of its chain removes it afterwards.",
  ),
  payer: nullable(text({ lengthMin: 1, lengthMax: 200 })).describe(
    "The address of the sender. Defaults to an unknown sender.",
  ),
  paymentId: nullable(paymentIdParser).describe(
    "The simulated payment with the outcome `processing` that now gets its `outcome`, with its first amount and payer.",
  ),
}).meta({ id: "SimulatedPaymentRequest" });
export type SimulatePaymentBody = z.output<typeof SimulatePaymentBody>;

/** A simulated payment and the result of its evaluation. */
export const SimulatedPayment = z
  .object({
    id: z.string().meta({ description: "The id of the payment, `tx_…`." }),
    status: paymentFields.status.meta({
      description: "`processing`, `settled` or `failed`. A payment counts when it is settled.",
    }),
    applied: z.boolean().meta({ description: "Whether the payment counts on the link." }),
    reason: paymentFields.reason.meta({
      description: "Why a settled payment does not count. Null if it counts or has not settled.",
    }),
    amount: paymentFields.amount,
    tokenAddress: z.string().meta({ description: "The address of the received token." }),
    chainId: z.string().meta({ description: "The id of the link's chain." }),
    sourceTransaction: z.string().nullable().meta({
      description: "A random transaction hash. No such transaction exists.",
    }),
    dateCreated: wireInstant.meta({ description: "When the payment was simulated." }),
    paymentLinkId: z.string().meta({ description: "The id of the link, `plink_…`." }),
  })
  .meta({ id: "SimulatedPayment" });
export type SimulatedPayment = z.output<typeof SimulatedPayment>;

const baseOperation = {
  method: "post",
  caller: "payment_link:create",
  tag: "Payment links",
} as const;
const path = "/v1/test/payment-link/:id";
const errors = ["TEST_KEY_REQUIRED", "CANNOT_FIND_PAYMENT_LINK"] as const;

/** The operations that only a test key can use, on its own test links (rule MODE-7). */
export const testModeOperations = {
  pay: {
    ...baseOperation,
    path: `${path}/pay`,
    operationId: "simulatePayment",
    summary: "Simulate a payment on a test link",
    description:
      "The payment is evaluated and sends webhooks like a real one. No transaction exists, so it has no explorer page " +
      "and cannot be refunded.",
    body: SimulatePaymentBody,
    acceptsIdempotencyKey: true,
    responses: { 200: SimulatedPayment },
    errors: [...errors, "PAYMENT_LINK_NOT_ACTIVE"],
  },
  expire: {
    ...baseOperation,
    path: `${path}/expire`,
    operationId: "expireTestPaymentLink",
    summary: "Expire an active test link now",
    description: "An expired link stays as it is.",
    responses: { 200: PaymentLinkData },
    errors: [...errors, "PAYMENT_LINK_NOT_ACTIVE"],
  },
  deactivate: {
    ...baseOperation,
    path: `${path}/deactivate`,
    operationId: "deactivateTestPaymentLink",
    summary: "Deactivate an active test link permanently",
    description:
      "A deactivated link stays as it is. In live mode, only a signed-in owner can deactivate a link.",
    responses: { 200: PaymentLinkData },
    errors: [...errors, "PAYMENT_LINK_NOT_ACTIVE"],
  },
} as const satisfies Record<string, Operation>;
