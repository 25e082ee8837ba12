import type { Request, Response } from "express";
import { CheckoutQuery } from "@payment-links/contracts";
import { answerJson, readParam, readQuery } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { readCheckoutLink } from "./read-checkout-link.ts";

/**
 * GET /checkout/payment-links/:id: how a link stands right now and how it is paid on its chain, for
 * anyone. `?amount=` asks for the instructions for another amount than the remaining one,
 * `?sourceTransaction=` for what became of the payment in that transaction.
 */
export const getCheckoutLink =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const query = readQuery(req, CheckoutQuery);
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    answerJson(res, 200, await readCheckoutLink(deps, linkId, query));
  };
