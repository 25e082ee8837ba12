import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import { answerJson, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { challengeLifeMs } from "../domain/passkey.ts";
import { mintToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { relyingPartyOf } from "./read-passkey.ts";
import { keepBrowser } from "./sign-in-browser.ts";

/**
 * GET /console/api/session/passkey: the challenge for a passkey, good once, for five minutes, in this
 * browser. It names no account: the authenticator finds the keys that it has for us.
 */
export const getPasskeyRequest = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  requireMethod(deps, "passkey");
  const { rpId } = relyingPartyOf(deps);
  const challenge = mintToken();
  await insertSignInAttempt(deps.pool, {
    hash: hashSecret(challenge),
    browserHash: hashSecret(keepBrowser(req, res, deps.cookie)),
    method: "passkey",
    expiresAt: new Date(deps.clock.now().getTime() + challengeLifeMs),
  });
  const timeout = challengeLifeMs;
  answerJson(res, 200, { challenge, rpId, timeout, userVerification: "required" });
};
