import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { paymentUri } from "../domain/payment-instructions.ts";
import { readLink } from "../store/read-link.ts";
import { answerQr } from "./get-qr.ts";

/**
 * GET /checkout/qr/:id/payment.svg: the payment request of a link on Solana or Bitcoin, for a wallet's
 * camera. It has the amount that remains right now, so nobody keeps it; 404 while there is none.
 */
export const getPaymentQr =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(deps, readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK"));
    const advice = await deps.advisePayer(link, { now: deps.clock.now() });
    const uri = "instructions" in advice ? paymentUri(advice.instructions) : undefined;
    if (uri === undefined) throw refuse("NOT_FOUND");
    answerQr(res, uri, "no-store");
  };
