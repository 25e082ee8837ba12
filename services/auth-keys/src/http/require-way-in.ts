import { refuse, type Actor } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { insertAuditOfEach } from "../store/audit-log.ts";
import { countWaysIn } from "../store/passkeys.ts";
import { deleteSessionsOfIdentity, lockCallersAccount } from "../store/sessions.ts";

/**
 * Throws LAST_WAY_IN if the account has no way in of its own left, so that the removal is undone.
 * Behind the account's lock, as two removals at once would each count the other's.
 */
export const requireWayIn = async (
  tx: Transaction,
  { issuers, signInMethods: methods }: Pick<Deps, "issuers" | "signInMethods">,
  caller: Caller,
): Promise<void> => {
  await lockCallersAccount(tx, caller);
  const ways = { accountId: caller.account.id, methods, issuers };
  if ((await countWaysIn(tx, ways)) === 0) throw refuse("LAST_WAY_IN");
};

type Entry = { at: Date; accountId: string; actor: Actor };

/** Ends the sessions that a removed identity or passkey began, except one. */
export const endSessionsOf = async (
  tx: Transaction,
  entry: Entry,
  { wayId, exceptId }: { wayId: string; exceptId: string },
): Promise<void> => {
  const ended = await deleteSessionsOfIdentity(tx, { identityId: wayId, exceptId });
  await insertAuditOfEach(tx, { ...entry, action: "session.revoked" }, ended);
};
