import { describe, expect, test } from "@jest/globals";
import type { OwnPaymentLink, PaymentData } from "../../../api/operations.ts";
import { findRefundToken } from "./find-refund-token.ts";
import { suggestRefundAmount, sumPaymentRefunds } from "./refund-amount.ts";

type Link = Parameters<typeof suggestRefundAmount>[0];

/** A payment as its id, its amount, and whether it is applied. */
type Payment = readonly [id: string, amount: string, applied: boolean];

const createLink = (
  payments: readonly Payment[],
  refunds: readonly (readonly [paymentId: string, amount: string])[] = [],
  { toAmount, receivedAmount } = { toAmount: "25", receivedAmount: "30" },
) =>
  ({
    toAmount,
    receivedAmount,
    payments: payments.map(([id, amount, applied]) => ({ id, amount, applied })),
    refunds: refunds.map(([paymentId, amount]) => ({ paymentId, amount })),
  }) as unknown as Link;

const paid = { toAmount: "25", receivedAmount: "25" };

describe("a refund suggests", () => {
  test.each<[string, Link, string | undefined]>([
    ["the excess of an overpaid link", createLink([["a", "30", true]]), "5"],
    [
      "at most the payment",
      createLink([
        ["a", "2", true],
        ["b", "28", true],
      ]),
      "2",
    ],
    ["the whole payment otherwise", createLink([["a", "25", true]], [], paid), "25"],
    ["the whole payment that was not applied", createLink([["a", "7", false]]), "7"],
    ["what is left", createLink([["a", "30", true]], [["a", "1.5"]]), "3.5"],
    [
      "no excess that was refunded for another payment",
      createLink(
        [
          ["a", "20", true],
          ["b", "10", true],
        ],
        [["b", "5"]],
      ),
      undefined,
    ],
    [
      "the excess besides refunds of payments that were not applied",
      createLink(
        [
          ["a", "30", true],
          ["b", "7", false],
        ],
        [["b", "7"]],
      ),
      "5",
    ],
    [
      "no excess that was refunded for a payment beyond those of the link",
      createLink([["a", "30", true]], [["old", "5"]]),
      undefined,
    ],
    ["nothing after a larger refund", createLink([["a", "30", true]], [["a", "6"]]), undefined],
  ])("%s", (_what, link, expected) => {
    const [payment] = link.payments;
    expect(payment && suggestRefundAmount(link, payment)).toBe(expected);
  });

  test("adds up the refunds of one payment", () => {
    const link = createLink(
      [["a", "30", true]],
      [
        ["a", "1.5"],
        ["b", "4"],
        ["a", "0.25"],
      ],
    );
    expect(sumPaymentRefunds(link, { id: "a" })).toBe("1.75");
    expect(sumPaymentRefunds(link, { id: "c" })).toBeUndefined();
  });
});

describe("a payment can be refunded", () => {
  const token = { symbol: "USDC" } as OwnPaymentLink["token"];
  const find = (overrides: Partial<PaymentData>) =>
    findRefundToken({ token }, { status: "settled", reason: null, ...overrides } as PaymentData);
  const otherToken = { symbol: "DAI" } as OwnPaymentLink["token"];

  test.each<[string, Partial<PaymentData>, unknown]>([
    ["in the link's token", {}, token],
    ["in its own token", { reason: "wrong_token", token: otherToken }, otherToken],
    ["but not in an unknown token", { reason: "wrong_token" }, undefined],
    ["but not before it settles", { status: "processing" }, undefined],
    ["but not if it failed", { status: "failed" }, undefined],
    ["but not if its chain reversed it", { orphaned: true }, undefined],
    ["but not if it reports another payment", { duplicateOf: "tx_1" }, undefined],
    ["but not if it is simulated", { simulated: true }, undefined],
  ])("%s", (_what, overrides, expected) => {
    expect(find(overrides)).toBe(expected);
  });
});
