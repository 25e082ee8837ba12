import * as z from "zod";
import { sql } from "slonik";
import type { Db, Transaction } from "@payment-links/postgres";
import { lockNames, lockNamesShared } from "./name-locks.ts";

const ReferencedLinkRow = z.object({
  referenceHash: z.string(),
  linkId: z.string(),
  paidFrom: z.date().nullable(),
});
/** The link of a reference. On Bitcoin money pays it from an instant on, elsewhere that is null. */
export type ReferencedLink = Pick<z.output<typeof ReferencedLinkRow>, "linkId" | "paidFrom">;

/**
 * The links of references, where they are known. It holds off the first record of any other link of
 * these references until the transaction ends: that record then finds what this transaction stores.
 */
export const lockReferencesShared = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, ReferencedLink>> => {
  const hashes = [...new Set(referenceHashes)];
  const knownLinks = await listLinksByReference(tx, hashes);
  const unknownHashes = hashes.filter((hash) => !knownLinks.has(hash));
  if (unknownHashes.length === 0) return knownLinks;
  await lockNamesShared(tx, "reference", unknownHashes);
  // The wait may have been for the very record that tells of a link.
  return new Map([...knownLinks, ...(await listLinksByReference(tx, unknownHashes))]);
};

/**
 * Returns the links of references. A release of before gave an address of Bitcoin to several links: the
 * newest of them is paid there.
 */
export const listLinksByReference = async (
  db: Db,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, ReferencedLink>> => {
  const rows = await db.any(sql.type(ReferencedLinkRow)`
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
