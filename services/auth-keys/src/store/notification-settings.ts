import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import { type EmailLanguage, emailLanguages } from "../domain/email.ts";
import type { NotificationSettings } from "../domain/notification-settings.ts";

const SettingsRow = z.object({
  address: z.string().nullable(),
  pendingAddress: z.string().nullable(),
  language: z.enum(emailLanguages),
  disabledKinds: z.array(z.string()),
});

const { columns } = defineTable(SettingsRow);

/** Returns an account's notification settings, or undefined if it never changed them. */
export const findNotificationSettings = async (
  db: Db,
  accountId: string,
): Promise<NotificationSettings | undefined> =>
  (await db.maybeOne(sql.type(SettingsRow)`
    SELECT ${columns} FROM notification_settings WHERE account_id = ${accountId}
  `)) ?? undefined;

/** Locks an account's settings, so that its emails are counted one after another. */
export const lockNotificationSettings = async (
  tx: Transaction,
  accountId: string,
): Promise<NotificationSettings | undefined> =>
  (await tx.maybeOne(sql.type(SettingsRow)`
    SELECT ${columns} FROM notification_settings WHERE account_id = ${accountId} FOR UPDATE
  `)) ?? undefined;

/** Stores a new address, which is pending until it is confirmed. Replaces another pending one. */
export const savePendingAddress = (
  tx: Transaction,
  { accountId, address, language }: { accountId: string; address: string; language: EmailLanguage },
): Promise<NotificationSettings> =>
  tx.one(sql.type(SettingsRow)`
    INSERT INTO notification_settings (account_id, pending_address, language)
    VALUES (${accountId}, ${address}, ${language})
    ON CONFLICT (account_id) DO UPDATE
    SET pending_address = excluded.pending_address, language = excluded.language,
      confirmation_hash = NULL, confirmation_expires_at = NULL
    RETURNING ${columns}
  `);

/**
 * Stores the hash of a confirmation token if the address is still pending, and returns whether it
 * is. The token is created when its email is sent, so the queue never contains one. If the email is
 * sent again, only the newest link works.
 */
export const saveConfirmation = async (
  db: Db,
  {
    accountId,
    address,
    hash,
    expiresAt,
  }: { accountId: string; address: string; hash: Buffer; expiresAt: Date },
): Promise<boolean> => {
  const { rowCount } = await db.query(sqlVoid`
    UPDATE notification_settings
    SET confirmation_hash = ${sql.binary(hash)}, confirmation_expires_at = ${sql.timestamp(expiresAt)}
    WHERE account_id = ${accountId} AND pending_address = ${address}
  `);
  return rowCount > 0;
};

/** Confirms the pending address with its token. Returns undefined if the token is not valid. */
export const confirmAddress = async (
  tx: Transaction,
  { accountId, hash, now }: { accountId: string; hash: Buffer; now: Date },
): Promise<NotificationSettings | undefined> =>
  (await tx.maybeOne(sql.type(SettingsRow)`
    UPDATE notification_settings
    SET address = pending_address, pending_address = NULL, confirmation_hash = NULL,
      confirmation_expires_at = NULL
    WHERE account_id = ${accountId} AND pending_address IS NOT NULL
      AND confirmation_hash = ${sql.binary(hash)}
      AND confirmation_expires_at > ${sql.timestamp(now)}
    RETURNING ${columns}
  `)) ?? undefined;

/** Removes the address and the pending one. Returns undefined if there was none. */
export const removeAddresses = async (
  tx: Transaction,
  accountId: string,
): Promise<NotificationSettings | undefined> =>
  (await tx.maybeOne(sql.type(SettingsRow)`
    UPDATE notification_settings
    SET address = NULL, pending_address = NULL, confirmation_hash = NULL,
      confirmation_expires_at = NULL
    WHERE account_id = ${accountId} AND (address IS NOT NULL OR pending_address IS NOT NULL)
    RETURNING ${columns}
  `)) ?? undefined;

/** Stores which kinds are off. The account's row must be locked. */
export const saveDisabledKinds = (
  tx: Transaction,
  {
    accountId,
    disabledKinds,
    language,
  }: { accountId: string; disabledKinds: readonly string[]; language: EmailLanguage },
): Promise<NotificationSettings> =>
  tx.one(sql.type(SettingsRow)`
    INSERT INTO notification_settings (account_id, language, disabled_kinds)
    VALUES (${accountId}, ${language}, ${sql.array([...disabledKinds], "text")})
    ON CONFLICT (account_id) DO UPDATE SET disabled_kinds = excluded.disabled_kinds
    RETURNING ${columns}
  `);
