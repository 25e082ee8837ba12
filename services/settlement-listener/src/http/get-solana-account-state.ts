import type { Request, Response } from "express";
import { SolanaAccountStateRequest, createApiError } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";

/**
 * POST /internal/settlement/solana-facts: returns public on-chain state. links-api needs it to
 * build a payer's Solana transaction, and auth-keys needs it to decide whether an address can be a
 * wallet. 204 if the chain is not watched, 503 if no node answers.
 */
export const getSolanaAccountState =
  ({ chains, log }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const request = await readJsonBody(req, SolanaAccountStateRequest);
    const accountState = await chains.fetchSolanaAccountState(request).catch((error: unknown) => {
      log.warn({ err: error, chain: request.chainId }, "Solana account state unavailable");
      throw createApiError("SERVICE_UNAVAILABLE");
    });
    if (accountState === undefined) res.status(204).end();
    else sendJson(res, 200, accountState);
  };
