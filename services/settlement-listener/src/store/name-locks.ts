import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";

const LockedRow = z.object({ isLocked: z.literal(true) });

/**
 * The number of advisory locks per kind of name. The lock table of Postgres is small and shared by
 * the whole server, and a transaction can receive many links, so it must not take a lock for each
 * one. Names are therefore mapped to a fixed number of locks. Two names with the same lock wait for
 * each other for the duration of a transaction. Payments need no such limit, because a transaction
 * locks only one of them.
 */
const lockCounts = { payment: 2 ** 31 - 1, link: 256, reference: 256 } as const;
type NameKind = keyof typeof lockCounts;

/**
 * Locks names until the transaction ends, whether or not a row has that name. All callers take the
 * locks in the same order, which prevents deadlocks.
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

/**
 * Builds a query that locks one name and returns one row. A statement that selects from it waits
 * for the lock.
 */
export const buildNameLock = (kind: NameKind, name: string) => sql.fragment`
  SELECT pg_advisory_xact_lock(${buildLockSpace(kind)}, abs(hashtext(${name}) % ${lockCounts[kind]}))
`;

/**
 * Takes shared locks on names until the transaction ends. {@link lockNames} waits until all shared
 * locks of a name are released.
 */
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

/** Separates these locks from those of other services in the same database. */
const buildLockSpace = (kind: NameKind) => sql.fragment`hashtext(${`settlement-listener ${kind}`})`;
