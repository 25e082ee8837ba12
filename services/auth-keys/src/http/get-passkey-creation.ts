import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { buildPasskeyCreation } from "../domain/passkey.ts";
import { listPasskeys } from "../store/passkeys.ts";
import { issueChallenge } from "./issue-challenge.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { getRelyingParty } from "./verify-passkey.ts";

/**
 * GET /console/api/passkeys/creation: returns the options for a new passkey. The challenge is valid
 * once, for 5 minutes, in this browser and this session.
 */
export const getPasskeyCreation =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    requireEnabledMethod(dependencies, "passkey");
    const { rpId } = getRelyingParty(dependencies);
    const { account, credential } = caller;
    const linkingSession = { linkingSessionId: credential.id };
    const challenge = await issueChallenge(dependencies, { req, res }, linkingSession);
    const existingPasskeys = await listPasskeys(dependencies.pool, account.id);
    sendJson(res, 200, buildPasskeyCreation({ challenge, rpId, account, existingPasskeys }));
  };
