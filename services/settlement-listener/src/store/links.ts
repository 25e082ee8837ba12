import * as z from "zod";
import { sql } from "slonik";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Transaction, nothing } from "@payment-links/postgres";
import { lockNames, shareNames } from "./name-locks.ts";

const LinkVersion = z.object({ id: z.string(), version: z.int() });
const Found = z.object({ isFound: z.literal(true) });

/**
 * Whether a link has been heard of. Where it has not, that stays so until the transaction ends: the
 * link's first record waits, and then finds what this transaction parked for it.
 */
export const holdLink = async (tx: Transaction, linkId: string): Promise<boolean> => {
  if (await isLinkKnown(tx, linkId)) return true;
  await shareNames(tx, "link", [linkId]);
  // The wait may have been for the very record that tells of the link.
  return isLinkKnown(tx, linkId);
};

/**
 * Locks links, known or not: nobody else makes them known or changes them until the transaction ends.
 */
export const lockLinks = (tx: Transaction, linkIds: readonly string[]): Promise<void> =>
  lockNames(tx, "link", linkIds);

/** The versions of links as they were last heard of, by their id; a link not heard of is missing. */
export const listLinkVersions = async (
  tx: Transaction,
  linkIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await tx.any(sql.type(LinkVersion)`
    SELECT id, version FROM links WHERE id = ANY (${sql.array([...linkIds], "text")})
  `);
  return new Map(rows.map(({ id, version }) => [id, version]));
};

/** A link, and the hash by which what is seen on its chain finds it. */
export type NamedLink = PaymentLinkState & { referenceHash: string };

/** Saves what the settlement of links needs to know of them, each once. They must be locked. */
export const saveLinks = async (tx: Transaction, links: readonly NamedLink[]): Promise<void> => {
  const rows = links.map((link) => [
    link.id,
    link.version,
    link.chainId,
    link.tokenAddress,
    link.destinationAddress,
    link.paymentReference,
    link.referenceHash,
  ]);
  await tx.query(nothing`
    INSERT INTO links (id, version, chain_id, token_address, destination_address,
                       payment_reference, payment_reference_hash)
    SELECT * FROM ${sql.unnest(rows, ["text", "int4", "text", "text", "text", "text", "text"])}
    ON CONFLICT (id) DO UPDATE SET
      version = excluded.version, chain_id = excluded.chain_id,
      token_address = excluded.token_address, destination_address = excluded.destination_address,
      payment_reference = excluded.payment_reference,
      payment_reference_hash = excluded.payment_reference_hash
  `);
};

const isLinkKnown = (tx: Transaction, linkId: string): Promise<boolean> =>
  tx.exists(sql.type(Found)`SELECT true AS "isFound" FROM links WHERE id = ${linkId}`);
