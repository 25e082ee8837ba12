import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Transaction, createJsonRecordset } from "@payment-links/postgres";
import { lockNames, lockNamesShared } from "./name-locks.ts";

const FoundRow = z.object({ isFound: z.literal(true) });

/**
 * Whether a link has been heard of. Where it has not, that stays so until the transaction ends: the
 * link's first record waits, and then finds what this transaction parked for it.
 */
export const lockLinkShared = async (tx: Transaction, linkId: string): Promise<boolean> => {
  if (await isLinkKnown(tx, linkId)) return true;
  await lockNamesShared(tx, "link", [linkId]);
  // The wait may have been for the very record that tells of the link.
  return isLinkKnown(tx, linkId);
};

/**
 * Locks links, known or not: nobody else makes them known or changes them until the transaction ends.
 */
export const lockLinks = (tx: Transaction, linkIds: readonly string[]): Promise<void> =>
  lockNames(tx, "link", linkIds);

/** A link, and the hash by which what is seen on its chain finds it. */
export type WatchedLink = PaymentLinkState & {
  referenceHash: string;
  /** On Bitcoin from when on money at its address pays it; null elsewhere. */
  paidFrom: Date | null;
};

/** Whether a link had been heard of before it was saved. */
type SavedLink = { id: string; wasKnown: boolean };

/**
 * Saves what the settlement of links needs to know of them, each given once, where they have been heard
 * of and what is given is newer. Those that have not been heard of stay unknown.
 */
export const saveKnownLinks = (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly SavedLink[]> =>
  tx.any(sql.prepared("save_known_links", SavedLinkRow)`
    ${buildSaveLinks(links, sql.fragment`SELECT given.* FROM given JOIN known USING (id) ORDER BY id`)}
  `);

/** As {@link saveKnownLinks}, and adds those that have not been heard of. They must be locked. */
export const saveLinks = (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly SavedLink[]> =>
  tx.any(sql.prepared("save_links", SavedLinkRow)`
    ${buildSaveLinks(links, sql.fragment`SELECT * FROM given ORDER BY id`)}
  `);

const SavedLinkRow = z.object({ id: z.string(), wasKnown: z.boolean() });

/**
 * Saves in the order of ids, so that two who save many never wait for each other. The look-up with a
 * `LIMIT` runs once per link, even where the cached plan assumed a table of another size.
 */
const buildSaveLinks = (links: readonly WatchedLink[], insertSource: FragmentSqlToken) => {
  const rows = links.map((link) => [
    link.id,
    link.version,
    link.chainId,
    link.tokenAddress,
    link.destinationAddress,
    link.paymentReference,
    link.referenceHash,
    link.paidFrom?.toISOString() ?? null,
  ]);
  return sql.fragment`
    WITH given AS MATERIALIZED (
      SELECT * FROM (${linkRows(rows)})
        AS link (id, version, chain_id, token_address, destination_address, payment_reference, payment_reference_hash, paid_from)
    ), known AS MATERIALIZED (
      SELECT found.id FROM given CROSS JOIN LATERAL (
        SELECT id FROM links WHERE id = given.id LIMIT 1
      ) AS found
    ), saved AS (
      INSERT INTO links (id, version, chain_id, token_address, destination_address,
                         payment_reference, payment_reference_hash, paid_from)
      ${insertSource}
      ON CONFLICT (id) DO UPDATE SET
        version = excluded.version, chain_id = excluded.chain_id,
        token_address = excluded.token_address, destination_address = excluded.destination_address,
        payment_reference = excluded.payment_reference,
        payment_reference_hash = excluded.payment_reference_hash
      WHERE links.version < excluded.version
    )
    SELECT given.id, known.id IS NOT NULL AS "wasKnown"
    FROM given LEFT JOIN known USING (id)
  `;
};

const linkRows = createJsonRecordset([
  "text",
  "int4",
  "text",
  "text",
  "text",
  "text",
  "text",
  "timestamptz",
]);

const isLinkKnown = (tx: Transaction, linkId: string): Promise<boolean> =>
  tx.exists(sql.type(FoundRow)`SELECT true AS "isFound" FROM links WHERE id = ${linkId}`);
