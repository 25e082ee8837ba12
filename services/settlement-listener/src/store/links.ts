import * as z from "zod";
import { sql } from "slonik";
import { type PaymentLinkState, keccak256Hex } from "@payment-links/contracts";
import { type Transaction, nothing } from "@payment-links/postgres";

const Version = z.object({ version: z.int() });
const Found = z.object({ isFound: z.literal(true) });

/**
 * Whether a link has been heard of. Where it has not, that stays so until the transaction ends: the
 * link's first record waits, and then finds what this transaction parked for it.
 */
export const holdLink = async (tx: Transaction, linkId: string): Promise<boolean> => {
  if (await isLinkKnown(tx, linkId)) return true;
  await tx.query(sql.type(Found)`
    SELECT true AS "isFound" FROM pg_advisory_xact_lock_shared(${lockKey(linkId)})
  `);
  // The wait may have been for the very record that tells of the link.
  return isLinkKnown(tx, linkId);
};

/**
 * Locks a link, known or not: nobody else makes it known or changes it until the transaction ends.
 */
export const lockLink = async (tx: Transaction, linkId: string): Promise<void> => {
  await tx.query(sql.type(Found)`
    SELECT true AS "isFound" FROM pg_advisory_xact_lock(${lockKey(linkId)})
  `);
};

/** The version of a link as it was last heard of, or undefined. */
export const findLinkVersion = async (
  tx: Transaction,
  linkId: string,
): Promise<number | undefined> => {
  const row = await tx.maybeOne(sql.type(Version)`
    SELECT version FROM links WHERE id = ${linkId}
  `);
  return row?.version;
};

/** Saves what the settlement of a link needs to know of it. The link must be locked. */
export const saveLink = async (tx: Transaction, link: PaymentLinkState): Promise<void> => {
  await tx.query(nothing`
    INSERT INTO links (id, version, chain_id, token_address, destination_address,
                       payment_reference, payment_reference_hash)
    VALUES (${link.id}, ${link.version}, ${link.chainId}, ${link.tokenAddress},
            ${link.destinationAddress}, ${link.paymentReference},
            ${keccak256Hex(link.paymentReference)})
    ON CONFLICT (id) DO UPDATE SET
      version = excluded.version, chain_id = excluded.chain_id,
      token_address = excluded.token_address, destination_address = excluded.destination_address,
      payment_reference = excluded.payment_reference,
      payment_reference_hash = excluded.payment_reference_hash
  `);
};

const isLinkKnown = (tx: Transaction, linkId: string): Promise<boolean> =>
  tx.exists(sql.type(Found)`SELECT true AS "isFound" FROM links WHERE id = ${linkId}`);

// The prefix keeps these locks apart from those of the other services in the same database.
const lockKey = (linkId: string) =>
  sql.fragment`hashtextextended(${`settlement-listener link ${linkId}`}, 0)`;
