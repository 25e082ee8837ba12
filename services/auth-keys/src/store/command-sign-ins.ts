import { type Actor, AuditRecord, Mode } from "@payment-links/contracts";
import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";

const StoredActor = AuditRecord.pick({
  actor: true,
  address: true,
  userAgent: true,
  method: true,
});

const PendingRow = z.object({
  deviceName: z.string(),
  mode: Mode,
  address: z.string().nullable(),
  dateCreated: z.date(),
  expiresAt: z.date(),
});
const { columns: pendingColumns } = defineTable(PendingRow);

/** A command line that waits for a user. */
export type PendingCommandSignIn = z.output<typeof PendingRow>;

/** Inserts a sign-in with only the hashes of its codes. */
export const insertCommandSignIn = async (
  db: Db,
  signIn: PendingCommandSignIn & { deviceHash: Buffer; userHash: Buffer },
): Promise<void> => {
  await db.query(sqlVoid`
    INSERT INTO command_sign_ins
      (device_hash, user_hash, device_name, mode, address, date_created, expires_at)
    VALUES
      (${sql.binary(signIn.deviceHash)}, ${sql.binary(signIn.userHash)}, ${signIn.deviceName},
       ${signIn.mode}, ${signIn.address}, ${sql.timestamp(signIn.dateCreated)}, ${sql.timestamp(signIn.expiresAt)})
  `);
};

type UserCodeQuery = { userHash: Buffer; now: Date };

const isPending = (now: Date) => sql.fragment`
  expires_at > ${sql.timestamp(now)} AND denied_at IS NULL AND account_id IS NULL
`;

/** Returns the sign-in with this user code that no user has allowed or denied. */
export const findPendingSignIn = async (
  db: Db,
  { userHash, now }: UserCodeQuery,
): Promise<PendingCommandSignIn | undefined> =>
  (await db.maybeOne(sql.type(PendingRow)`
    SELECT ${pendingColumns} FROM command_sign_ins
    WHERE user_hash = ${sql.binary(userHash)} AND ${isPending(now)}
  `)) ?? undefined;

type Allowance = UserCodeQuery & {
  accountId: string;
  scopes: readonly string[];
  actor: Actor;
};

/** Allows a pending sign-in. Returns undefined if there is none. */
export const allowCommandSignIn = async (
  tx: Transaction,
  { userHash, now, accountId, scopes, actor }: Allowance,
): Promise<PendingCommandSignIn | undefined> =>
  (await tx.maybeOne(sql.type(PendingRow)`
    UPDATE command_sign_ins
    SET account_id = ${accountId}, scopes = ${sql.array([...scopes], "text")},
        allowed_by = ${JSON.stringify(actor)}::jsonb
    WHERE user_hash = ${sql.binary(userHash)} AND ${isPending(now)}
    RETURNING ${pendingColumns}
  `)) ?? undefined;

/** Denies a pending sign-in. Returns undefined if there is none. */
export const denyCommandSignIn = async (
  tx: Transaction,
  { userHash, now }: UserCodeQuery,
): Promise<PendingCommandSignIn | undefined> =>
  (await tx.maybeOne(sql.type(PendingRow)`
    UPDATE command_sign_ins SET denied_at = ${sql.timestamp(now)}
    WHERE user_hash = ${sql.binary(userHash)} AND ${isPending(now)}
    RETURNING ${pendingColumns}
  `)) ?? undefined;

type DeviceCodeQuery = { deviceHash: Buffer; now: Date };

const StatusRow = z.object({ accountId: z.string().nullable(), isDenied: z.boolean() });

/** Returns what users have decided about a sign-in. Returns undefined if there is none. */
export const findCommandSignIn = async (
  db: Db,
  { deviceHash, now }: DeviceCodeQuery,
): Promise<z.output<typeof StatusRow> | undefined> =>
  (await db.maybeOne(sql.type(StatusRow)`
    SELECT account_id AS "accountId", denied_at IS NOT NULL AS "isDenied" FROM command_sign_ins
    WHERE device_hash = ${sql.binary(deviceHash)} AND expires_at > ${sql.timestamp(now)}
  `)) ?? undefined;

const AllowedRow = z.object({
  deviceName: z.string(),
  scopes: z.array(z.string()),
  mode: Mode,
  actor: StoredActor,
});

/** Consumes an allowed sign-in of an account. Only one of several concurrent calls succeeds. */
export const redeemCommandSignIn = async (
  tx: Transaction,
  { deviceHash, now, accountId }: DeviceCodeQuery & { accountId: string },
): Promise<z.output<typeof AllowedRow> | undefined> =>
  (await tx.maybeOne(sql.type(AllowedRow)`
    DELETE FROM command_sign_ins
    WHERE device_hash = ${sql.binary(deviceHash)} AND account_id = ${accountId}
      AND expires_at > ${sql.timestamp(now)}
    RETURNING device_name AS "deviceName", scopes, mode, allowed_by AS actor
  `)) ?? undefined;

/** Deletes a sign-in. */
export const deleteCommandSignIn = async (db: Db, deviceHash: Buffer): Promise<void> => {
  await db.query(sqlVoid`
    DELETE FROM command_sign_ins WHERE device_hash = ${sql.binary(deviceHash)}
  `);
};

/** Deletes the sign-ins that a user of an account has allowed and no command line has polled. */
export const deleteCommandSignInsOfAccount = async (
  tx: Transaction,
  accountId: string,
): Promise<void> => {
  await tx.query(sqlVoid`DELETE FROM command_sign_ins WHERE account_id = ${accountId}`);
};

/** Deletes up to `rowsMax` expired sign-ins. Returns how many. */
export const deleteExpiredCommandSignIns = async (
  db: Db,
  { now, rowsMax }: { now: Date; rowsMax: number },
): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`
    DELETE FROM command_sign_ins WHERE device_hash IN (
      SELECT device_hash FROM command_sign_ins
      WHERE expires_at <= ${sql.timestamp(now)} LIMIT ${rowsMax}
    )
  `);
  return rowCount;
};
