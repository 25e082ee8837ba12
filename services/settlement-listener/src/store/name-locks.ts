import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";

const Locked = z.object({ isLocked: z.literal(true) });

/**
 * Locks names until the transaction ends, whether or not there is a row for them. They are taken in
 * one order by everybody, so that two who want the same never wait for one another. A name begins
 * with the service's own, as other services lock names in the same database.
 */
export const lockNames = async (tx: Transaction, names: readonly string[]): Promise<void> => {
  await tx.query(sql.type(Locked)`
    SELECT true AS "isLocked"
    FROM unnest(${sql.array(names.toSorted(), "text")}) AS lock (name)
    CROSS JOIN LATERAL pg_advisory_xact_lock(hashtextextended(lock.name, 0))
  `);
};

/** Shares names until the transaction ends: {@link lockNames} waits for all who share them. */
export const shareNames = async (tx: Transaction, names: readonly string[]): Promise<void> => {
  await tx.query(sql.type(Locked)`
    SELECT true AS "isLocked"
    FROM unnest(${sql.array(names.toSorted(), "text")}) AS lock (name)
    CROSS JOIN LATERAL pg_advisory_xact_lock_shared(hashtextextended(lock.name, 0))
  `);
};
