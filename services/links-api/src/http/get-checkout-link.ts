import type { Request, Response } from "express";
import { CheckoutQuery, isId, refuse } from "@payment-links/contracts";
import { answerJson, readParam, readQuery } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { chainPaymentId } from "../domain/chain-payment-id.ts";
import { instructPayer } from "../domain/payment-instructions.ts";
import { findPayment, listPendingPayments } from "../store/payments.ts";
import { showCheckoutLink } from "./show-checkout-link.ts";

/**
 * GET /checkout/payment-links/:id: how a link stands right now and how it is paid on its chain, for
 * anyone. `?amount=` asks for the instructions for another amount than the remaining one,
 * `?sourceTransaction=` for what became of the payment in that transaction.
 */
export const getCheckoutLink =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { amount, sourceTransaction: transactionHash } = readQuery(req, CheckoutQuery);
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = isId("plink", linkId) ? await deps.findLinkView(linkId) : undefined;
    if (link === undefined) throw refuse("CANNOT_FIND_PAYMENT_LINK");
    const { token } = deps.tokenOf(link.tokenId);
    const now = deps.clock.now();
    const { settlementChains } = deps;
    const advice = instructPayer(link, token, { amount, settlementChains, now });
    const pending = await listPendingPayments(deps.pool, linkId);
    const { id: chainId } = token.chain;
    const followed =
      transactionHash === undefined
        ? undefined
        : await findPayment(deps.pool, chainPaymentId({ chainId, transactionHash, linkId }));
    answerJson(res, 200, showCheckoutLink(deps, link, { advice, pending, followed, now }));
  };
