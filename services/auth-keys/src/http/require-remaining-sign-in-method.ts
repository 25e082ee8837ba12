import { createApiError, type Actor } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAuditForEach } from "../store/audit-log.ts";
import { countSignInMethods } from "../store/passkeys.ts";
import { deleteSessionsOfIdentity, lockCallerAccount } from "../store/sessions.ts";

/**
 * Throws LAST_WAY_IN if the account has no sign-in method left, so that the removal is rolled back.
 * Locks the account first. Otherwise, two concurrent removals could each count the method that the
 * other one removes.
 */
export const requireRemainingSignInMethod = async (
  tx: Transaction,
  {
    activeIssuers,
    signInMethods: enabledMethods,
  }: Pick<Dependencies, "activeIssuers" | "signInMethods">,
  caller: Caller,
): Promise<void> => {
  await lockCallerAccount(tx, caller);
  const methodQuery = { accountId: caller.account.id, enabledMethods, activeIssuers };
  if ((await countSignInMethods(tx, methodQuery)) === 0) throw createApiError("LAST_WAY_IN");
};

type AuditFields = { at: Date; accountId: string; actor: Actor };

/** Ends the sessions that a removed identity or passkey started, except one. */
export const endSessionsOfMethod = async (
  tx: Transaction,
  auditFields: AuditFields,
  { methodId, exceptId }: { methodId: string; exceptId: string },
): Promise<void> => {
  const endedSessionIds = await deleteSessionsOfIdentity(tx, { identityId: methodId, exceptId });
  await insertAuditForEach(tx, { ...auditFields, action: "session.revoked" }, endedSessionIds);
};
