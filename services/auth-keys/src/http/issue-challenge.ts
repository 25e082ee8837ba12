import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { challengeLifetimeMs } from "../domain/passkey.ts";
import { generateToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { setBrowserCookie } from "./sign-in-browser.ts";

/**
 * Gives a browser a challenge for a passkey, good there once, for five minutes. With a session it is
 * one to make a passkey for that session's account.
 */
export const issueChallenge = async (
  { clock, cookie, pool }: Pick<Dependencies, "clock" | "cookie" | "pool">,
  { req, res }: { req: Request; res: Response },
  linkingSession: { linkingSessionId?: string } = {},
): Promise<string> => {
  const challenge = generateToken();
  await insertSignInAttempt(pool, {
    hash: hashSecret(challenge),
    browserHash: hashSecret(setBrowserCookie(req, res, cookie)),
    method: "passkey",
    expiresAt: new Date(clock.now().getTime() + challengeLifetimeMs),
    ...linkingSession,
  });
  return challenge;
};
