import type { Account, Actor } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { PendingDefault } from "../domain/wallet.ts";
import { insertAudit } from "../store/audit-log.ts";
import {
  deletePendingDefault,
  hasHadDefault,
  upsertPendingDefault,
} from "../store/pending-defaults.ts";

/**
 * Until when another default of this account, whose row is locked, must wait; undefined if it need not.
 * The first default needs not: no link was ever made to another one.
 */
export const findEffectiveAt = async (
  tx: Transaction,
  { walletDelayMs }: Pick<Dependencies, "walletDelayMs">,
  { account, now }: { account: Account; now: Date },
): Promise<Date | undefined> => {
  if (walletDelayMs === 0) return undefined;
  const isFirstDefault =
    !account.wallets.some(({ isDefault }) => isDefault) && !(await hasHadDefault(tx, account.id));
  return isFirstDefault ? undefined : new Date(now.getTime() + walletDelayMs);
};

type AuditFields = { at: Date; accountId: string; actor: Actor };

/** Lets a change of default wait, in place of the one before. */
export const scheduleDefault = async (
  tx: Transaction,
  auditFields: AuditFields,
  pendingDefault: PendingDefault,
): Promise<void> => {
  await upsertPendingDefault(tx, auditFields.accountId, pendingDefault);
  await insertAudit(tx, {
    ...auditFields,
    action: "wallet.default_scheduled",
    targetId: pendingDefault.walletId,
    detail: { effectiveAt: pendingDefault.effectiveAt.toISOString() },
  });
};

/** Drops the change of default that waits, if one does. */
export const cancelDefault = async (tx: Transaction, auditFields: AuditFields): Promise<void> => {
  const targetId = await deletePendingDefault(tx, auditFields.accountId);
  if (targetId === undefined) return;
  await insertAudit(tx, { ...auditFields, action: "wallet.default_cancelled", targetId });
};
