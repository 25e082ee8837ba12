import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { writePasskeyCreation } from "../domain/passkey.ts";
import { listPasskeys } from "../store/passkeys.ts";
import { giveChallenge } from "./give-challenge.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { relyingPartyOf } from "./read-passkey.ts";

/**
 * GET /console/api/passkeys/creation: what an authenticator is asked to make, with a challenge that is
 * good once, for five minutes, in this browser and this session.
 */
export const getPasskeyCreation =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    requireMethod(deps, "passkey");
    const { rpId } = relyingPartyOf(deps);
    const { account, credential } = caller;
    const session = { linkingSessionId: credential.id };
    const challenge = await giveChallenge(deps, { req, res }, session);
    const others = await listPasskeys(deps.pool, account.id);
    answerJson(res, 200, writePasskeyCreation({ challenge, rpId, account, others }));
  };
