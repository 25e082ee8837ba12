import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { transactionRequestUrl } from "../domain/solana-request.ts";
import { readLink } from "../store/read-link.ts";
import { answerQr } from "./get-qr.ts";

/**
 * GET /checkout/qr/:id/request.svg: the transaction request of a link on Solana, for a wallet's camera
 * (rule CHAIN-23); 404 while there is none.
 */
export const getRequestQr =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(deps, readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK"));
    const advice = await deps.advisePayer(link, { now: deps.clock.now() });
    const url =
      "instructions" in advice
        ? transactionRequestUrl(deps.checkoutUrl, link.id, advice.instructions)
        : null;
    if (url === null) throw refuse("NOT_FOUND");
    answerQr(res, url, "no-store");
  };
