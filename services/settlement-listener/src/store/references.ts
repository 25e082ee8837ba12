import * as z from "zod";
import { sql } from "slonik";
import type { Db, Transaction } from "@payment-links/postgres";
import { lockNames, shareNames } from "./name-locks.ts";

const PaidRow = z.object({
  referenceHash: z.string(),
  linkId: z.string(),
  paidFrom: z.date().nullable(),
});
/** The link of a reference. On Bitcoin money pays it from an instant on, elsewhere that is null. */
export type PaidLink = Pick<z.output<typeof PaidRow>, "linkId" | "paidFrom">;

/**
 * The links of references, where they are known. It holds off the first record of any other link of
 * these references until the transaction ends: that record then finds what this transaction stores.
 */
export const holdReferences = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, PaidLink>> => {
  const hashes = [...new Set(referenceHashes)];
  const known = await listPaidLinks(tx, hashes);
  const unknown = hashes.filter((hash) => !known.has(hash));
  if (unknown.length === 0) return known;
  await shareNames(tx, "reference", unknown);
  // The wait may have been for the very record that tells of a link.
  return new Map([...known, ...(await listPaidLinks(tx, unknown))]);
};

/**
 * Returns the links of references. A release of before gave an address of Bitcoin to several links: the
 * newest of them is paid there.
 */
export const listPaidLinks = async (
  db: Db,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, PaidLink>> => {
  const rows = await db.any(sql.type(PaidRow)`
    SELECT DISTINCT ON (payment_reference_hash)
      payment_reference_hash AS "referenceHash", id AS "linkId", paid_from AS "paidFrom"
    FROM links
    WHERE payment_reference_hash = ANY (${sql.array([...referenceHashes], "text")})
    ORDER BY payment_reference_hash, id COLLATE "C" DESC
  `);
  return new Map(rows.map(({ referenceHash, ...link }) => [referenceHash, link]));
};

/** Locks references: nobody else stores a transfer of them until the transaction ends. */
export const lockReferences = (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => lockNames(tx, "reference", referenceHashes);
