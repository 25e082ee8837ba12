import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/solana/:id: who asks for a payment, for the wallet that scanned the transaction request
 * of a link. The icon is ours: an owner's image may be of a kind that wallets must refuse.
 */
export const getSolanaRequest =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(
      dependencies,
      parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK"),
    );
    const { chain } = dependencies.getToken(link.tokenId).token;
    if (chain.chainType !== "SVM") throw createApiError("NOT_FOUND");
    const icon = `${dependencies.checkoutUrl}/favicon.svg`;
    sendJson(res, 200, { label: link.owner.username, icon });
  };
