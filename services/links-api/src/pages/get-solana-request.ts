import type { Request, Response } from "express";
import { getFamily } from "@payment-links/chains";
import { createApiError } from "@payment-links/contracts";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/solana/:id: returns the name of the link's owner and an icon for a wallet that has
 * scanned the transaction request. The icon is that of this service, because an owner's image can
 * have a format that wallets have to reject.
 */
export const getSolanaRequest =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(
      dependencies,
      parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK"),
    );
    const { chain } = dependencies.getToken(link.tokenId).token;
    if (!getFamily(chain.chainType).hasTransactionRequests) throw createApiError("NOT_FOUND");
    const icon = `${dependencies.checkoutUrl}/favicon.svg`;
    sendJson(res, 200, { label: link.owner.username, icon });
  };
