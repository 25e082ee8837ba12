import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Pool, type Transaction, transact } from "@payment-links/postgres";
import {
  type ClaimedAccount,
  type RejectedAttempts,
  getReportedOrdinals,
} from "../domain/rejected-sign-ins.ts";
import { insertAudit } from "./audit-log.ts";

const OwnerRow = z.object({ accountId: z.string() });
const CountRow = z.object({ count: z.int() });

/** Finds the accounts that match a claim. An expired sign-in link still matches. */
export const findClaimedAccountIds = async (
  db: Db,
  claimedAccount: ClaimedAccount,
): Promise<readonly string[]> => {
  if (claimedAccount.by === "account") return [claimedAccount.accountId];
  return db.anyFirst(sql.type(OwnerRow)`
    SELECT DISTINCT account_id AS "accountId" FROM ${selectClaimed(claimedAccount)}
  `);
};

const selectClaimed = (claimedAccount: Exclude<ClaimedAccount, { by: "account" }>) => {
  if (claimedAccount.by === "link") {
    return sql.fragment`sign_in_tokens WHERE hash = ${sql.binary(claimedAccount.hash)}`;
  }
  if (claimedAccount.by === "passkey") {
    return sql.fragment`passkeys WHERE credential_id = ${sql.binary(claimedAccount.credentialId)}`;
  }
  return sql.fragment`identities
    WHERE method = ${claimedAccount.method} AND subject = ${claimedAccount.subject}
      AND issuer = ANY (${sql.array([...claimedAccount.issuers], "text")})`;
};

const hourMs = 60 * 60_000;

/** Stores rejected attempts in a separate transaction. */
export const saveRejectedSignIns = (
  pool: Pool,
  accountId: string,
  attempts: RejectedAttempts,
): Promise<void> => transact(pool, (tx) => insertRejectedSignIns(tx, accountId, attempts));

/** Counts an account's rejected attempts, and stores audit events for those that are logged. */
export const insertRejectedSignIns = async (
  tx: Transaction,
  accountId: string,
  attempts: RejectedAttempts,
): Promise<void> => {
  const { action, count, firstRejections, lastRejection, method } = attempts;
  const previousCount = (await countRejectedSignIns(tx, accountId, attempts)) - count;
  for (const ordinal of getReportedOrdinals(previousCount, count)) {
    const { actor, at, reason } = firstRejections[ordinal - previousCount - 1] ?? lastRejection;
    const detail = { method, reason, count: ordinal };
    await insertAudit(tx, { at, accountId, actor, action, detail });
  }
};

/** Returns the number of attempts in the current hour, including these. */
const countRejectedSignIns = (
  tx: Transaction,
  accountId: string,
  { action, count, lastRejection: { at }, method }: RejectedAttempts,
): Promise<number> => {
  const hourAgo = sql.timestamp(new Date(at.getTime() - hourMs));
  return tx.oneFirst(sql.type(CountRow)`
    INSERT INTO refused_sign_ins AS known (account_id, action, method, since, count)
    VALUES (${accountId}, ${action}, ${method}, ${sql.timestamp(at)}, ${count})
    ON CONFLICT (account_id, action, method) DO UPDATE SET
      since = CASE WHEN known.since <= ${hourAgo} THEN excluded.since ELSE known.since END,
      count = CASE WHEN known.since <= ${hourAgo} THEN 0 ELSE known.count END + excluded.count
    RETURNING count
  `);
};
