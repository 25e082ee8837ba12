import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { answerJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/solana/:id: who asks for a payment, for the wallet that scanned the transaction request
 * of a link. The icon is ours: an owner's image may be of a kind that wallets must refuse.
 */
export const getSolanaRequest =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const link = await readLink(deps, readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK"));
    const { chain } = deps.tokenOf(link.tokenId).token;
    if (chain.chainType !== "SVM") throw refuse("NOT_FOUND");
    const icon = `${deps.checkoutUrl}/favicon.svg`;
    answerJson(res, 200, { label: link.owner.username, icon });
  };
