import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Pool, type Transaction, transact } from "@payment-links/postgres";
import { type Claim, type RefusedAttempts, toldOrdinals } from "../domain/refusals.ts";
import { insertAudit } from "./audit-log.ts";

const OwnerRow = z.object({ accountId: z.string() });
const CountRow = z.object({ count: z.int() });

/** The accounts to which a claim leads: none if it is nobody's. A sign-in link may be past its end. */
export const findClaimed = async (db: Db, claim: Claim): Promise<readonly string[]> => {
  if (claim.by === "account") return [claim.accountId];
  return db.anyFirst(sql.type(OwnerRow)`
    SELECT DISTINCT account_id AS "accountId" FROM ${rowsOf(claim)}
  `);
};

const rowsOf = (claim: Exclude<Claim, { by: "account" }>) => {
  if (claim.by === "link") {
    return sql.fragment`sign_in_tokens WHERE hash = ${sql.binary(claim.hash)}`;
  }
  if (claim.by === "passkey") {
    return sql.fragment`passkeys WHERE credential_id = ${sql.binary(claim.credentialId)}`;
  }
  return sql.fragment`identities
    WHERE method = ${claim.method} AND subject = ${claim.subject}
      AND issuer = ANY (${sql.array([...claim.issuers], "text")})`;
};

const hourMs = 60 * 60_000;

/** Counts and writes down refused attempts, in a transaction of their own. */
export const keepRefusals = (
  pool: Pool,
  accountId: string,
  attempts: RefusedAttempts,
): Promise<void> => transact(pool, (tx) => insertRefusals(tx, accountId, attempts));

/** Counts an account's refused attempts, and writes those down that are told. */
export const insertRefusals = async (
  tx: Transaction,
  accountId: string,
  attempts: RefusedAttempts,
): Promise<void> => {
  const { action, count, first, last, method } = attempts;
  const before = (await countRefusals(tx, accountId, attempts)) - count;
  for (const ordinal of toldOrdinals(before, count)) {
    const { actor, at, reason } = first[ordinal - before - 1] ?? last;
    const detail = { method, reason, count: ordinal };
    await insertAudit(tx, { at, accountId, actor, action, detail });
  }
};

/** Answers how many there have been in this hour, these included. */
const countRefusals = (
  tx: Transaction,
  accountId: string,
  { action, count, last: { at }, method }: RefusedAttempts,
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
