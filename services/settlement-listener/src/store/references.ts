import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import { lockNames, shareNames } from "./name-locks.ts";

const Named = z.object({ referenceHash: z.string(), linkId: z.string() });

/**
 * The links of references, where they are known. It holds off the first record of any other link of
 * these references until the transaction ends: that record then finds what this transaction stores.
 */
export const holdReferences = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const hashes = [...new Set(referenceHashes)];
  const known = await listLinkIds(tx, hashes);
  const unknown = hashes.filter((hash) => !known.has(hash));
  if (unknown.length === 0) return known;
  await shareNames(tx, "reference", unknown);
  // The wait may have been for the very record that tells of a link.
  return new Map([...known, ...(await listLinkIds(tx, unknown))]);
};

/** A release of before gave an address of Bitcoin to several links: the newest of them is paid there. */
const listLinkIds = async (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.any(sql.type(Named)`
    SELECT payment_reference_hash AS "referenceHash", max(id COLLATE "C") AS "linkId"
    FROM links
    WHERE payment_reference_hash = ANY (${sql.array([...referenceHashes], "text")})
    GROUP BY payment_reference_hash
  `);
  return new Map(rows.map(({ linkId, referenceHash }) => [referenceHash, linkId]));
};

/** Locks references: nobody else stores a transfer of them until the transaction ends. */
export const lockReferences = (
  tx: Transaction,
  referenceHashes: readonly string[],
): Promise<void> => lockNames(tx, "reference", referenceHashes);
