import type { Request, Response } from "express";
import { CheckoutQuery } from "@payment-links/contracts";
import { sendJson, parsePathParameter, parseQuery } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readCheckoutLink } from "./read-checkout-link.ts";

/**
 * GET /checkout/payment-links/:id: returns a link's current status and its payment instructions.
 * Anyone can call it. `?amount=` requests instructions for an amount other than the remaining one.
 * `?sourceTransaction=` requests the payment that was made in that transaction.
 */
export const getCheckoutLink =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const query = parseQuery(req, CheckoutQuery);
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    sendJson(res, 200, await readCheckoutLink(dependencies, linkId, query));
  };
