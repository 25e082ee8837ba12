import type { Request, Response } from "express";
import { formatAmount, isBitcoinChainId } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import type { LinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import { unsendableRemainder } from "../domain/payment-instructions.ts";
import { findAddressGap } from "../store/bitcoin-addresses.ts";
import { listPayments } from "../store/payments.ts";
import { getOwnLink } from "./own-link.ts";
import { handleOf, showLink } from "./show-link.ts";
import { showPayment } from "./show-payment.ts";

const paymentsMax = 100;

/** GET /console/api/payment-links/:id: an own link with its newest payments, unapplied ones too. */
export const getConsoleLink =
  (deps: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const link = await getOwnLink(deps, req, caller);
    const page = { linkId: link.id, offset: 0, limit: paymentsMax };
    const payments = await listPayments(deps.pool, page);
    const { token } = deps.tokenOf(link.tokenId);
    const isOnBitcoin = isBitcoinChainId(token.chain.id);
    const addressGap = isOnBitcoin ? await findAddressGap(deps.pool, link.id) : undefined;
    const now = deps.clock.now();
    const context = { handle: handleOf(caller.account), now };
    answerJson(res, 200, {
      ...showLink(deps, link, context),
      payments: payments.map(showPayment),
      addressGap: addressGap ?? null,
      ...showRemainder(deps, link, now),
    });
  };

/** Shows what an active link lacks, if that cannot be sent (rule STATE-16). */
const showRemainder = ({ tokenOf }: Deps, link: LinkView, now: Date) => {
  if (statusAt(link, now) !== "active") return {};
  const remainder = unsendableRemainder(link, tokenOf(link.tokenId).token);
  if (remainder === undefined) return {};
  return {
    unsendableRemainder: {
      amount: formatAmount(remainder.amount),
      smallestPayment: formatAmount(remainder.smallestPayment),
    },
  };
};
