import type { Request, Response } from "express";
import { UsedAddressesQuestion, refuse } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Deps } from "../deps.ts";

/**
 * POST /internal/settlement/used-addresses: links-api asks which addresses of Bitcoin were paid, before it
 * suggests the first one of a wallet. 503 if no node can tell.
 */
export const tellUsedAddresses =
  ({ askUsedAddresses, log }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const question = await readBody(req, UsedAddressesQuestion);
    const answer = await askUsedAddresses(question).catch((error: unknown) => {
      log.info({ err: error, chain: question.chainId }, "no node tells which addresses were used");
      throw refuse("SERVICE_UNAVAILABLE");
    });
    answerJson(res, 200, answer);
  };
