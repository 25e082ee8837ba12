import { type Account, type Actor, type Mode, findDefaultWallet } from "@payment-links/contracts";
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
 * Returns when a new default of this account takes effect, or undefined if it takes effect
 * immediately. The account's row must be locked. The first live default does not need a delay,
 * because no link has used another wallet before. A test default never has one, because no money is
 * at risk.
 */
export const findEffectiveAt = async (
  tx: Transaction,
  { walletDelayMs }: Pick<Dependencies, "walletDelayMs">,
  { account, mode, now }: { account: Account; mode: Mode; now: Date },
): Promise<Date | undefined> => {
  if (walletDelayMs === 0 || mode === "test") return undefined;
  const isFirstDefault =
    findDefaultWallet(account, mode) === undefined && !(await hasHadDefault(tx, account.id));
  return isFirstDefault ? undefined : new Date(now.getTime() + walletDelayMs);
};

type AuditFields = { at: Date; accountId: string; actor: Actor };

/** Schedules a change of the default and replaces the pending one. */
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

/** Cancels the pending change of the default, if any. */
export const cancelDefault = async (tx: Transaction, auditFields: AuditFields): Promise<void> => {
  const targetId = await deletePendingDefault(tx, auditFields.accountId);
  if (targetId === undefined) return;
  await insertAudit(tx, { ...auditFields, action: "wallet.default_cancelled", targetId });
};
