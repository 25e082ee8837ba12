import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { challengeLifetimeMs } from "../domain/passkey.ts";
import { generateToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { setBrowserCookie } from "./sign-in-browser.ts";

/**
 * Issues a passkey challenge to a browser. It is valid once, for 5 minutes, in this browser. With
 * `linkingSessionId`, the challenge is for a new passkey of that session's account.
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
