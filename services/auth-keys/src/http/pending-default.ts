import type { Account, Actor } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
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
export const findWait = async (
  tx: Transaction,
  { walletDelayMs }: Pick<Deps, "walletDelayMs">,
  { account, now }: { account: Account; now: Date },
): Promise<Date | undefined> => {
  if (walletDelayMs === 0) return undefined;
  const isFirst =
    !account.wallets.some(({ isDefault }) => isDefault) && !(await hasHadDefault(tx, account.id));
  return isFirst ? undefined : new Date(now.getTime() + walletDelayMs);
};

type Entry = { at: Date; accountId: string; actor: Actor };

/** Lets a change of default wait, in place of the one before. */
export const scheduleDefault = async (
  tx: Transaction,
  entry: Entry,
  pending: PendingDefault,
): Promise<void> => {
  await upsertPendingDefault(tx, entry.accountId, pending);
  await insertAudit(tx, {
    ...entry,
    action: "wallet.default_scheduled",
    targetId: pending.walletId,
    detail: { effectiveAt: pending.effectiveAt.toISOString() },
  });
};

/** Drops the change of default that waits, if one does. */
export const cancelDefault = async (tx: Transaction, entry: Entry): Promise<void> => {
  const targetId = await deletePendingDefault(tx, entry.accountId);
  if (targetId === undefined) return;
  await insertAudit(tx, { ...entry, action: "wallet.default_cancelled", targetId });
};
