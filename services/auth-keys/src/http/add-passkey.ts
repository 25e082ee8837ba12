import type { Request, Response } from "express";
import { NewPasskey, hashSecret, newId, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { passkeysMax, showPasskey } from "../domain/passkey.ts";
import { challengeOf, judgeAttestation } from "../domain/webauthn.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertPasskey, listPasskeys } from "../store/passkeys.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { spendSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { relyingPartyOf } from "./read-passkey.ts";
import { readBrowser } from "./sign-in-browser.ts";

/** POST /console/api/passkeys: what an authenticator made signs in to this account from now on. */
export const addPasskey = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  requireMethod(deps, "passkey");
  const { name, passkey: given } = await readBody(req, NewPasskey);
  const { clock, cookie, log, pool } = deps;
  const refuseBy = (rule: string) => {
    log.info({ rule }, "a passkey was refused");
    return refuse("INVALID_PASSKEY");
  };
  const challenge = challengeOf(given.response.clientDataJSON);
  if (challenge === undefined) throw refuseBy("client data");
  const made = await judgeAttestation(given, { ...relyingPartyOf(deps), challenge });
  if (typeof made === "string") throw refuseBy(made);
  const now = clock.now();
  const accountId = caller.account.id;
  const attempt = { hash: hashSecret(challenge), method: "passkey", now } as const;
  const browserHash = hashSecret(readBrowser(req, cookie));
  const actor = personActor(req, caller.credential);
  const id = newId("pky");
  const passkey = { ...made, id, accountId, name, dateCreated: now, lastUsedAt: null };
  await transact(pool, async (tx) => {
    const spent = await spendSignInAttempt(tx, { ...attempt, browserHash });
    if (spent?.linkingSessionId !== caller.credential.id) throw refuseBy("challenge");
    await lockCallersAccount(tx, caller);
    if ((await listPasskeys(tx, accountId)).length >= passkeysMax) throw refuse("PASSKEY_LIMIT");
    if (!(await insertPasskey(tx, passkey))) throw refuse("PASSKEY_EXISTS");
    const entry = { at: now, accountId, actor, targetId: id };
    await insertAudit(tx, { ...entry, action: "passkey.added", detail: { name } });
  });
  answerJson(res, 201, showPasskey(passkey));
};
