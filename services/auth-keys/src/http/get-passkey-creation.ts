import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { challengeLifeMs, writePasskeyCreation } from "../domain/passkey.ts";
import { mintToken } from "../domain/token.ts";
import { listPasskeys } from "../store/passkeys.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { relyingPartyOf } from "./read-passkey.ts";
import { keepBrowser } from "./sign-in-browser.ts";

/**
 * GET /console/api/passkeys/creation: what an authenticator is asked to make, with a challenge that is
 * good once, for five minutes, in this browser and this session.
 */
export const getPasskeyCreation =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    requireMethod(deps, "passkey");
    const { rpId } = relyingPartyOf(deps);
    const { account, credential } = caller;
    const challenge = mintToken();
    await insertSignInAttempt(deps.pool, {
      hash: hashSecret(challenge),
      browserHash: hashSecret(keepBrowser(req, res, deps.cookie)),
      method: "passkey",
      linkingSessionId: credential.id,
      expiresAt: new Date(deps.clock.now().getTime() + challengeLifeMs),
    });
    const others = await listPasskeys(deps.pool, account.id);
    answerJson(res, 200, writePasskeyCreation({ challenge, rpId, account, others }));
  };
