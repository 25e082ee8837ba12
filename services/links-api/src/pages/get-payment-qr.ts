import type { Request, Response } from "express";
import { getPaymentUri } from "@payment-links/chains";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";
import { sendQr } from "./get-qr.ts";

/**
 * GET /checkout/qr/:id/payment.svg: returns the payment URI of a link on Solana or Bitcoin as a QR
 * code. The response is not cached, because it contains the current remaining amount. Throws
 * `NOT_FOUND` if there is no payment URI.
 */
export const getPaymentQr =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(
      dependencies,
      parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK"),
    );
    const instructionsResult = await dependencies.getPaymentInstructions(link, {
      now: dependencies.clock.now(),
    });
    const uri =
      "instructions" in instructionsResult
        ? getPaymentUri(instructionsResult.instructions)
        : undefined;
    if (uri === undefined) throw createApiError("NOT_FOUND");
    sendQr(res, uri, "no-store");
  };
