import type { Request, Response } from "express";
import { body, type Actor } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { lockAccount } from "../store/accounts.ts";
import { revokeApiKeysOfAccount } from "../store/api-keys.ts";
import { insertAudit, insertAuditForEach } from "../store/audit-log.ts";
import { deleteCommandSignInsOfAccount } from "../store/command-sign-ins.ts";
import { deleteIdentitiesOfAccount } from "../store/identities.ts";
import { deletePasskeysOfAccount } from "../store/passkeys.ts";
import { deleteSessionsOfAccount } from "../store/sessions.ts";
import { deleteSignInTokensOfAccount } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";
import { accountSelectorFields, findSelectedAccount } from "./find-selected-account.ts";
import { cancelDefault } from "./pending-default.ts";

const RevocationBody = body(accountSelectorFields);

/**
 * POST /internal/accounts/revoke-everything: lets an operator revoke all credentials of an account:
 * keys, sessions, sign-in links, identities and passkeys (rule CALLER-17). The user can return with
 * a new sign-in link.
 */
export const revokeEverything =
  (dependencies: Dependencies) => async (req: Request, res: Response) => {
    const { id } = await findSelectedAccount(
      dependencies.pool,
      await readJsonBody(req, RevocationBody),
    );
    const now = dependencies.clock.now();
    const counts = await transact(dependencies.pool, (tx) =>
      revokeAll(tx, { at: now, accountId: id, actor: operatorActor(req) }),
    );
    sendJson(res, 200, { userId: id, ...counts });
  };

type Revocation = { at: Date; accountId: string; actor: Actor };

const revokeAll = async (tx: Transaction, auditFields: Revocation) => {
  const { at: now, accountId } = auditFields;
  // Deletes identities and passkeys before locking the account, because a sign-in locks them in the
  // same order. A concurrent sign-in holds its identity or passkey until it commits, so its session
  // is visible here. The second deletion removes identities and passkeys that were added while this
  // transaction waited for the account's lock.
  const earlyIdentities = await deleteIdentitiesOfAccount(tx, accountId);
  const earlyPasskeys = await deletePasskeysOfAccount(tx, accountId);
  await lockAccount(tx, accountId);
  const identities = [...earlyIdentities, ...(await deleteIdentitiesOfAccount(tx, accountId))];
  const passkeys = [...earlyPasskeys, ...(await deletePasskeysOfAccount(tx, accountId))];
  const apiKeys = await revokeApiKeysOfAccount(tx, { accountId, now });
  const sessions = await deleteSessionsOfAccount(tx, accountId);
  // The pending change was requested with one of these credentials.
  await cancelDefault(tx, auditFields);
  const signInLinks = await deleteSignInTokensOfAccount(tx, accountId);
  await deleteCommandSignInsOfAccount(tx, accountId);
  const counts = {
    apiKeys: apiKeys.length,
    identities: identities.length,
    passkeys: passkeys.length,
    sessions: sessions.length,
    signInLinks,
  };
  await insertAudit(tx, { ...auditFields, action: "account.credentials_revoked", detail: counts });
  await insertAuditForEach(tx, { ...auditFields, action: "api_key.revoked" }, apiKeys);
  for (const { id: targetId, method, issuer, subject } of identities) {
    const detail = { method, issuer, subject };
    await insertAudit(tx, { ...auditFields, action: "identity.unlinked", targetId, detail });
  }
  await insertAuditForEach(tx, { ...auditFields, action: "passkey.removed" }, passkeys);
  await insertAuditForEach(tx, { ...auditFields, action: "session.revoked" }, sessions);
  return counts;
};
