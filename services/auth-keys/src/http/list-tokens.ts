import type { Request, Response } from "express";
import { showToken } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import type { Deps } from "../deps.ts";

/** GET /console/api/tokens: the catalogue, from which a wallet's token is chosen. */
export const listTokens =
  ({ catalogue, checkoutUrl }: Deps) =>
  (_req: Request, res: Response) => {
    const data = catalogue.tokens.map((token) => ({
      id: token.id,
      token: showToken(token, checkoutUrl),
    }));
    answerJson(res, 200, { data });
  };
