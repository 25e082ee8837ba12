import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/solana/:id: returns the name and icon of the link's owner for a wallet that scanned
 * the transaction request. The icon is ours because an owner's image may have a format that wallets
 * must reject.
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
