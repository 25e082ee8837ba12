import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { PendingDefault } from "../domain/wallet.ts";

const PendingRow = z.object({ walletId: z.string(), effectiveAt: z.date() });
const WalletIdRow = z.object({ walletId: z.string() });
const AccountIdRow = z.object({ accountId: z.string() });
const HasHadDefaultRow = z.object({ hasHadDefault: z.boolean() });

/** Returns the pending default of an account, if any. */
export const findPendingDefault = async (
  db: Db,
  accountId: string,
): Promise<PendingDefault | undefined> =>
  (await db.maybeOne(sql.type(PendingRow)`
    SELECT wallet_id AS "walletId", effective_at AS "effectiveAt"
    FROM pending_defaults WHERE account_id = ${accountId}
  `)) ?? undefined;

/** Stores a pending default and replaces the previous one. The account's row must be locked. */
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

/** Deletes the pending default of an account. Returns its wallet id, if there was one. */
export const deletePendingDefault = async (
  tx: Transaction,
  accountId: string,
): Promise<string | undefined> =>
  (await tx.maybeOneFirst(sql.type(WalletIdRow)`
    DELETE FROM pending_defaults WHERE account_id = ${accountId} RETURNING wallet_id AS "walletId"
  `)) ?? undefined;

/** Lists up to `rowsMax` accounts with a due pending default, longest overdue first. */
export const listDueDefaults = (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<readonly string[]> =>
  db.anyFirst(sql.type(AccountIdRow)`
    SELECT account_id AS "accountId" FROM pending_defaults
    WHERE effective_at <= ${sql.timestamp(now)} ORDER BY effective_at LIMIT ${rowsMax}
  `);

/** Returns whether the account has ever had a default wallet. */
export const hasHadDefault = (tx: Transaction, accountId: string): Promise<boolean> =>
  tx.oneFirst(sql.type(HasHadDefaultRow)`
    SELECT has_had_default AS "hasHadDefault" FROM accounts WHERE id = ${accountId}
  `);
