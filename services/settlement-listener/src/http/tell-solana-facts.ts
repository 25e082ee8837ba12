import type { Request, Response } from "express";
import { SolanaFactsQuestion, refuse } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Deps } from "../deps.ts";

/**
 * POST /internal/settlement/solana-facts: links-api asks what a payer's transaction on Solana is made
 * of, and auth-keys whether an address can be a wallet. All of it is public on the chain. Answers 204 for a
 * chain that is not watched, and 503 if no node answers.
 */
export const tellSolanaFacts =
  ({ askSolana, log }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const question = await readBody(req, SolanaFactsQuestion);
    const facts = await askSolana(question).catch((error: unknown) => {
      log.warn({ err: error, chain: question.chainId }, "a payer's transaction cannot be made");
      throw refuse("SERVICE_UNAVAILABLE");
    });
    if (facts === undefined) res.status(204).end();
    else answerJson(res, 200, facts);
  };
