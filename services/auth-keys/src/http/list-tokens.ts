import type { Request, Response } from "express";
import { getFamily } from "@payment-links/chains";
import {
  type CatalogueEntry,
  type CatalogueToken,
  getChainMode,
  serializeToken,
} from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";

/** GET /console/api/tokens: lists the catalog of tokens for wallets. */
export const listTokens =
  ({ catalogue, checkoutUrl }: Dependencies) =>
  (_req: Request, res: Response) => {
    const data = catalogue.tokens.map((token) => ({
      id: token.id,
      token: serializeToken(token, checkoutUrl),
      walletForm: getWalletForm(token),
      mode: getChainMode(token.chain),
    }));
    sendJson(res, 200, { data });
  };

const getWalletForm = ({ chain }: CatalogueToken): CatalogueEntry["walletForm"] => {
  const { hasHexAddresses, linkAddresses } = getFamily(chain.chainType);
  if (linkAddresses !== undefined) return "key";
  return hasHexAddresses ? "hex_address" : "address";
};
