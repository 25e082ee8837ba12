import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { PendingDefault } from "../domain/wallet.ts";

const PendingRow = z.object({ walletId: z.string(), effectiveAt: z.date() });
const WalletIdRow = z.object({ walletId: z.string() });
const AccountIdRow = z.object({ accountId: z.string() });
const HasHadDefaultRow = z.object({ hasHadDefault: z.boolean() });

/** The change of default that waits for an account, if one does. */
export const findPendingDefault = async (
  db: Db,
  accountId: string,
): Promise<PendingDefault | undefined> =>
  (await db.maybeOne(sql.type(PendingRow)`
    SELECT wallet_id AS "walletId", effective_at AS "effectiveAt"
    FROM pending_defaults WHERE account_id = ${accountId}
  `)) ?? undefined;

/** Lets a change of default wait, in place of the one before. The account is locked. */
export const upsertPendingDefault = async (
  tx: Transaction,
  accountId: string,
  { walletId, effectiveAt }: PendingDefault,
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO pending_defaults (account_id, wallet_id, effective_at)
    VALUES (${accountId}, ${walletId}, ${sql.timestamp(effectiveAt)})
    ON CONFLICT (account_id) DO UPDATE
    SET wallet_id = excluded.wallet_id, effective_at = excluded.effective_at
  `);
};

/** Drops the change that waits for an account; answers for which wallet it was, if there was one. */
export const deletePendingDefault = async (
  tx: Transaction,
  accountId: string,
): Promise<string | undefined> =>
  (await tx.maybeOneFirst(sql.type(WalletIdRow)`
    DELETE FROM pending_defaults WHERE account_id = ${accountId} RETURNING wallet_id AS "walletId"
  `)) ?? undefined;

/** At most so many accounts for which a change is due, those that wait longest first. */
export const listDueDefaults = (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<readonly string[]> =>
  db.anyFirst(sql.type(AccountIdRow)`
    SELECT account_id AS "accountId" FROM pending_defaults
    WHERE effective_at <= ${sql.timestamp(now)} ORDER BY effective_at LIMIT ${rowsMax}
  `);

/** Whether the account has ever had a default wallet. */
export const hasHadDefault = (tx: Transaction, accountId: string): Promise<boolean> =>
  tx.oneFirst(sql.type(HasHadDefaultRow)`
    SELECT has_had_default AS "hasHadDefault" FROM accounts WHERE id = ${accountId}
  `);
