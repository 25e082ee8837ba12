import type { Request, Response } from "express";
import { isId, refuse } from "@payment-links/contracts";
import { answerJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { findPayment } from "../store/payments.ts";
import { showCheckoutTransaction } from "./show-checkout-transaction.ts";

/**
 * GET /checkout/transactions/:id: how a payment stands right now, for anyone who knows its id.
 */
export const getCheckoutTransaction =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const paymentId = readParam(req, "id");
    const payment = isId("tx", paymentId) ? await findPayment(deps.pool, paymentId) : undefined;
    if (payment === undefined) throw refuse("NOT_FOUND");
    answerJson(res, 200, showCheckoutTransaction(deps, payment));
  };
