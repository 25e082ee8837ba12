import type { Request, Response } from "express";
import { sendJson, rejectCrossSiteRequest } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { challengeLifetimeMs } from "../domain/passkey.ts";
import { issueChallenge } from "./issue-challenge.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { getRelyingParty } from "./verify-passkey.ts";

/**
 * GET /console/api/session/passkey: returns a challenge for a passkey. It is valid once, for 5
 * minutes, in this browser. The response does not name an account, because the authenticator finds
 * its keys by our relying party id.
 */
export const getPasskeyRequest =
  (dependencies: Dependencies) => async (req: Request, res: Response) => {
    rejectCrossSiteRequest(req, dependencies.cookie);
    requireEnabledMethod(dependencies, "passkey");
    const { rpId } = getRelyingParty(dependencies);
    const challenge = await issueChallenge(dependencies, { req, res });
    const timeout = challengeLifetimeMs;
    sendJson(res, 200, { challenge, rpId, timeout, userVerification: "required" });
  };
