import * as z from "zod";
import { sql } from "slonik";
import type { Db, Transaction } from "@payment-links/postgres";
import { lockNames, lockNamesShared } from "./name-locks.ts";

const ReferencedLinkRow = z.object({
  referenceHash: z.string(),
  linkId: z.string(),
  paidFrom: z.date().nullable(),
});
/**
 * The link of a reference. On Bitcoin, money that arrives from `paidFrom` on pays the link.
 * `paidFrom` is null on other chains.
 */
export type ReferencedLink = Pick<z.output<typeof ReferencedLinkRow>, "linkId" | "paidFrom">;

/**
 * Returns the known links of references. For the other references, the first event of their link
 * waits until the transaction ends, and then finds the transfers that the transaction stored.
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
  // While this waited for the locks, the event of such a link may have been stored.
  return new Map([...knownLinks, ...(await listLinksByReference(tx, unknownHashes))]);
};

/**
 * Returns the known links of references. An earlier release gave one Bitcoin address to several
 * links. The newest one of them gets the payments.
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

/** Locks references. No other transaction can store a transfer with them until this one ends. */
export const lockReferences = (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => lockNames(tx, "reference", referenceHashes);
