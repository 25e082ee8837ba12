import type { Request, Response } from "express";
import { formatAmount, isId, refuse, transactionPageUrl } from "@payment-links/contracts";
import { answerJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { findPayment } from "../store/payments.ts";

/**
 * GET /checkout/transactions/:id: how a payment stands right now, for anyone who knows its id. It
 * tells nothing about the payer but the transaction's public hash.
 */
export const getCheckoutTransaction =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const paymentId = readParam(req, "id");
    const payment = isId("tx", paymentId) ? await findPayment(deps.pool, paymentId) : undefined;
    if (payment === undefined) throw refuse("NOT_FOUND");
    answerJson(res, 200, {
      id: payment.id,
      paymentLinkId: payment.linkId,
      status: payment.status,
      applied: payment.isApplied,
      reason: payment.reason,
      amount: formatAmount(payment.amount),
      tokenAddress: payment.tokenAddress,
      chainId: payment.chainId,
      sourceTransaction: payment.sourceTransaction,
      dateCreated: payment.firstSeenAt.toISOString(),
      transactionUrl: payment.isApplied ? transactionPageUrl(deps.checkoutUrl, payment.id) : null,
    });
  };
