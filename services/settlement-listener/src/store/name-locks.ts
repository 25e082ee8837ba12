import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";

const LockedRow = z.object({ isLocked: z.literal(true) });

/**
 * What a name is of, with the number of locks that names of the kind share. Postgres' table of locks
 * is small, and one for the whole server: a transaction must not take one for each of the many links
 * that it hears of. Two names that share a lock wait for each other, for as long as a transaction
 * takes. A transaction locks one payment alone.
 */
const lockCounts = { payment: 2 ** 31 - 1, link: 256, reference: 256 } as const;
type NameKind = keyof typeof lockCounts;

/**
 * Locks names until the transaction ends, whether or not there is a row for them. They are taken in
 * one order by everybody, so that two who want the same never wait for one another.
 */
export const lockNames = async (
  tx: Transaction,
  kind: NameKind,
  names: readonly string[],
): Promise<void> => {
  await tx.query(sql.type(LockedRow)`
    SELECT true AS "isLocked" FROM (${buildLockNumbers(kind, names)}) AS lock
    CROSS JOIN LATERAL pg_advisory_xact_lock(${buildLockSpace(kind)}, lock.number)
  `);
};

/** Locks one name, as a row of a statement that does more; what takes its rows from it waits. */
export const buildNameLock = (kind: NameKind, name: string) => sql.fragment`
  SELECT pg_advisory_xact_lock(${buildLockSpace(kind)}, abs(hashtext(${name}) % ${lockCounts[kind]}))
`;

/** Shares names until the transaction ends: {@link lockNames} waits for all who share them. */
export const lockNamesShared = async (
  tx: Transaction,
  kind: NameKind,
  names: readonly string[],
): Promise<void> => {
  await tx.query(sql.type(LockedRow)`
    SELECT true AS "isLocked" FROM (${buildLockNumbers(kind, names)}) AS lock
    CROSS JOIN LATERAL pg_advisory_xact_lock_shared(${buildLockSpace(kind)}, lock.number)
  `);
};

const buildLockNumbers = (kind: NameKind, names: readonly string[]) => sql.fragment`
  SELECT DISTINCT abs(hashtext(name) % ${lockCounts[kind]}) AS number
  FROM unnest(${sql.array([...names], "text")}) AS asked (name)
  ORDER BY number
`;

/** Other services lock names in the same database. */
const buildLockSpace = (kind: NameKind) => sql.fragment`hashtext(${`settlement-listener ${kind}`})`;
