import type { Request, Response } from "express";
import { getFamily } from "@payment-links/chains";
import { formatAmount } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import type { LinkView } from "../domain/link-view.ts";
import { getInactiveReason, statusAt } from "../domain/link.ts";
import { getUnsendableRemainder } from "../domain/payment-instructions.ts";
import { findAddressGap } from "../store/link-addresses.ts";
import { listPayments } from "../store/payments.ts";
import { listRefunds } from "../store/refunds.ts";
import { getOwnLink } from "./get-own-link.ts";
import { requireHandle, serializeLink } from "./serialize-link.ts";
import { serializePayment } from "./serialize-payment.ts";
import { serializeRefund } from "./serialize-refund.ts";

const paymentsMax = 100;
const refundsMax = 100;

/**
 * GET /console/api/payment-links/:id: returns one of the account's links with its newest payments,
 * including those that were not applied, and its newest refunds.
 */
export const getConsoleLink =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const link = await getOwnLink(dependencies, req, caller);
    const page = { linkId: link.id, offset: 0, limit: paymentsMax };
    const payments = await listPayments(dependencies.pool, page);
    const refunds = await listRefunds(dependencies.pool, { linkId: link.id, limit: refundsMax });
    const { token } = dependencies.getToken(link.tokenId);
    const hasOwnAddress = getFamily(token.chain.chainType).linkAddresses !== undefined;
    const addressGap = hasOwnAddress ? await findAddressGap(dependencies.pool, link.id) : undefined;
    const now = dependencies.clock.now();
    const serializationContext = { handle: requireHandle(caller.account), now };
    sendJson(res, 200, {
      ...serializeLink(dependencies, link, serializationContext),
      inactiveReason: getInactiveReason(link, now),
      mode: link.mode,
      payments: payments.map((payment) => serializePayment(dependencies, payment)),
      refunds: refunds.map((refund) => serializeRefund(dependencies, refund)),
      addressGap: addressGap ?? null,
      ...serializeRemainder(dependencies, link, now),
    });
  };

/**
 * Serializes the remaining amount of an active link if it is too small to be sent (rule STATE-16).
 */
const serializeRemainder = ({ getToken }: Dependencies, link: LinkView, now: Date) => {
  if (statusAt(link, now) !== "active") return {};
  const remainder = getUnsendableRemainder(link, getToken(link.tokenId).token);
  if (remainder === undefined) return {};
  return {
    unsendableRemainder: {
      amount: formatAmount(remainder.amount),
      smallestPayment: formatAmount(remainder.smallestPayment),
    },
  };
};
