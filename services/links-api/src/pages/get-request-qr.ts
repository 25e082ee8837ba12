import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { buildTransactionRequestUrl } from "../domain/solana-request.ts";
import { readLink } from "../store/read-link.ts";
import { sendQr } from "./get-qr.ts";

/**
 * GET /checkout/qr/:id/request.svg: returns the transaction request of a link on Solana as a QR
 * code (rule CHAIN-23). Throws `NOT_FOUND` if there is no transaction request.
 */
export const getRequestQr =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(
      dependencies,
      parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK"),
    );
    const instructionsResult = await dependencies.getPaymentInstructions(link, {
      now: dependencies.clock.now(),
    });
    const url =
      "instructions" in instructionsResult
        ? buildTransactionRequestUrl(
            dependencies.checkoutUrl,
            link.id,
            instructionsResult.instructions,
          )
        : null;
    if (url === null) throw createApiError("NOT_FOUND");
    sendQr(res, url, "no-store");
  };
