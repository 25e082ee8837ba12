import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { answerRefusal } from "@payment-links/http";

/**
 * How a refusal is answered where a browser goes by itself. A person goes back to the console,
 * which tells them what the code means. A program, and anybody who asks too often, gets the error
 * envelope.
 */
export const answerSignInRefusal =
  ({ baseUrl }: { baseUrl: string }) =>
  (refusal: Refusal, req: Request, res: Response): void => {
    const isPerson = req.get("accept")?.includes("text/html") === true;
    if (!isPerson || refusal.status === 429) {
      answerRefusal(refusal, res);
      return;
    }
    const [entry] = refusal.entries;
    res.setHeader("Cache-Control", "no-store");
    res.redirect(303, `${baseUrl}/console?error=${encodeURIComponent(entry?.code ?? "")}`);
  };
