import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { challengeLifeMs } from "../domain/passkey.ts";
import { mintToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { keepBrowser } from "./sign-in-browser.ts";

/**
 * Gives a browser a challenge for a passkey, good there once, for five minutes. With a session it is
 * one to make a passkey for that session's account.
 */
export const giveChallenge = async (
  { clock, cookie, pool }: Pick<Deps, "clock" | "cookie" | "pool">,
  { req, res }: { req: Request; res: Response },
  session: { linkingSessionId?: string } = {},
): Promise<string> => {
  const challenge = mintToken();
  await insertSignInAttempt(pool, {
    hash: hashSecret(challenge),
    browserHash: hashSecret(keepBrowser(req, res, cookie)),
    method: "passkey",
    expiresAt: new Date(clock.now().getTime() + challengeLifeMs),
    ...session,
  });
  return challenge;
};
