import type { Request, Response } from "express";
import { NewPasskey, hashSecret, newId, createApiError } from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { passkeysMax, serializePasskey } from "../domain/passkey.ts";
import { parseChallenge, verifyAttestation } from "../domain/webauthn.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertPasskey, listPasskeys } from "../store/passkeys.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { consumeSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { getRelyingParty } from "./verify-passkey.ts";
import { readBrowserToken } from "./sign-in-browser.ts";

/** POST /console/api/passkeys: adds a new passkey to the account. */
export const addPasskey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    requireEnabledMethod(dependencies, "passkey");
    const { name, passkey: credential } = await readJsonBody(req, NewPasskey);
    const { clock, cookie, log, pool } = dependencies;
    const reject = (rule: string) => {
      log.info({ rule }, "passkey rejected");
      return createApiError("INVALID_PASSKEY");
    };
    const challenge = parseChallenge(credential.response.clientDataJSON);
    if (challenge === undefined) throw reject("client data");
    const verifiedPasskey = await verifyAttestation(credential, {
      ...getRelyingParty(dependencies),
      challenge,
    });
    if (typeof verifiedPasskey === "string") throw reject(verifiedPasskey);
    const now = clock.now();
    const accountId = caller.account.id;
    const attempt = { hash: hashSecret(challenge), method: "passkey", now } as const;
    const browserHash = hashSecret(readBrowserToken(req, cookie));
    const actor = createSessionActor(req, caller.credential);
    const id = newId("pky");
    const passkey = { ...verifiedPasskey, id, accountId, name, dateCreated: now, lastUsedAt: null };
    await transact(pool, async (tx) => {
      const consumedAttempt = await consumeSignInAttempt(tx, { ...attempt, browserHash });
      if (consumedAttempt?.linkingSessionId !== caller.credential.id) throw reject("challenge");
      await lockCallerAccount(tx, caller);
      if ((await listPasskeys(tx, accountId)).length >= passkeysMax)
        throw createApiError("PASSKEY_LIMIT");
      if (!(await insertPasskey(tx, passkey))) throw createApiError("PASSKEY_EXISTS");
      const auditFields = { at: now, accountId, actor, targetId: id };
      await insertAudit(tx, { ...auditFields, action: "passkey.added", detail: { name } });
    });
    sendJson(res, 201, serializePasskey(passkey));
  };
