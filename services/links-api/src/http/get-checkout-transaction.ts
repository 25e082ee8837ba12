import type { Request, Response } from "express";
import { isId, createApiError } from "@payment-links/contracts";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { findPayment } from "../store/payments.ts";
import { serializeCheckoutTransaction } from "./serialize-checkout-transaction.ts";

/**
 * GET /checkout/transactions/:id: returns the current status of a payment to anyone who knows its
 * id.
 */
export const getCheckoutTransaction =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const paymentId = parsePathParameter(req, "id");
    const payment = isId("tx", paymentId)
      ? await findPayment(dependencies.pool, paymentId)
      : undefined;
    if (payment === undefined) throw createApiError("NOT_FOUND");
    sendJson(res, 200, serializeCheckoutTransaction(dependencies, payment));
  };
