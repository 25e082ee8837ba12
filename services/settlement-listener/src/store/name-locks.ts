import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";

const LockedRow = z.object({ isLocked: z.literal(true) });

/**
 * The number of advisory locks per kind of name. Postgres' lock table is small and shared by the
 * whole server. A transaction may receive many links and must not take a lock for each of them. Two
 * names that share a lock wait for each other for the duration of a transaction. A transaction
 * locks only one payment.
 */
const lockCounts = { payment: 2 ** 31 - 1, link: 256, reference: 256 } as const;
type NameKind = keyof typeof lockCounts;

/**
 * Locks names until the transaction ends, whether or not they have a row. All callers take the
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
 * Builds a statement that locks one name and returns one row. A larger statement that selects from
 * it waits for the lock.
 */
export const buildNameLock = (kind: NameKind, name: string) => sql.fragment`
  SELECT pg_advisory_xact_lock(${buildLockSpace(kind)}, abs(hashtext(${name}) % ${lockCounts[kind]}))
`;

/**
 * Takes shared locks on names until the transaction ends. {@link lockNames} waits for all
 * transactions that share a name.
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
