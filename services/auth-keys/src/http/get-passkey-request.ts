import type { Request, Response } from "express";
import { answerJson, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { challengeLifeMs } from "../domain/passkey.ts";
import { giveChallenge } from "./give-challenge.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { relyingPartyOf } from "./read-passkey.ts";

/**
 * GET /console/api/session/passkey: the challenge for a passkey, good once, for five minutes, in this
 * browser. It names no account: the authenticator finds the keys that it has for us.
 */
export const getPasskeyRequest = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  requireMethod(deps, "passkey");
  const { rpId } = relyingPartyOf(deps);
  const challenge = await giveChallenge(deps, { req, res });
  const timeout = challengeLifeMs;
  answerJson(res, 200, { challenge, rpId, timeout, userVerification: "required" });
};
