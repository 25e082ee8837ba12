import * as z from "zod";
import { type FragmentSqlToken, sql } from "slonik";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Transaction, defineTable } from "@payment-links/postgres";
import { lockNames, lockNamesShared } from "./name-locks.ts";

const FoundRow = z.object({ isFound: z.literal(true) });

/**
 * Returns whether a link has been received. If not, the link stays unknown until the transaction
 * ends. The link's first event waits for the transaction, and then finds the payments that the
 * transaction deferred.
 */
export const lockLinkShared = async (tx: Transaction, linkId: string): Promise<boolean> => {
  if (await isLinkKnown(tx, linkId)) return true;
  await lockNamesShared(tx, "link", [linkId]);
  // While this waited for the lock, the link's event may have been stored.
  return isLinkKnown(tx, linkId);
};

/**
 * Locks links, whether known or unknown. No other transaction can add or change them until this one
 * ends.
 */
export const lockLinks = (tx: Transaction, linkIds: readonly string[]): Promise<void> =>
  lockNames(tx, "link", linkIds);

/** A link with its reference hash, by which payments on its chain identify it. */
export type WatchedLink = PaymentLinkState & {
  referenceHash: string;
  /**
   * On Bitcoin, money that reaches the address from this time on pays the link. Null on other
   * chains.
   */
  paidFrom: Date | null;
};

/** Whether a link was known before it was saved. */
type SavedLink = { id: string; wasKnown: boolean };

/**
 * Updates known links whose given version is newer. Does not add unknown links. Each link must
 * occur once.
 */
export const saveKnownLinks = (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly SavedLink[]> =>
  tx.any(sql.prepared("save_known_links", SavedLinkRow)`
    ${buildSaveLinks(links, sql.fragment`SELECT given.* FROM given JOIN known USING (id) ORDER BY id`)}
  `);

/**
 * Saves links like {@link saveKnownLinks}, and also adds unknown ones. The caller must have locked
 * the links.
 */
export const saveLinks = (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly SavedLink[]> =>
  tx.any(sql.prepared("save_links", SavedLinkRow)`
    ${buildSaveLinks(links, sql.fragment`SELECT * FROM given ORDER BY id`)}
  `);

const SavedLinkRow = z.object({ id: z.string(), wasKnown: z.boolean() });

/**
 * Saves in the order of the ids, so that two transactions that save many links never deadlock. The
 * `LIMIT` makes Postgres look up each link by its key, even if a cached plan was made for a table
 * of another size.
 */
const buildSaveLinks = (links: readonly WatchedLink[], insertSource: FragmentSqlToken) => {
  const rows = links.map((link) => ({ ...link, paymentReferenceHash: link.referenceHash }));
  return sql.fragment`
    WITH given AS MATERIALIZED (${linkTable.rows(rows)}), known AS MATERIALIZED (
      SELECT found.id FROM given CROSS JOIN LATERAL (
        SELECT id FROM links WHERE id = given.id LIMIT 1
      ) AS found
    ), saved AS (
      INSERT INTO links (${linkTable.names}) ${insertSource}
      ON CONFLICT (id) DO UPDATE SET ${updatedColumns}
      WHERE links.version < excluded.version
    )
    SELECT given.id, known.id IS NOT NULL AS "wasKnown"
    FROM given LEFT JOIN known USING (id)
  `;
};

const LinkRow = z.object({
  id: z.string(),
  version: z.int(),
  chainId: z.string(),
  tokenAddress: z.string(),
  destinationAddress: z.string(),
  paymentReference: z.string(),
  paymentReferenceHash: z.string(),
  paidFrom: z.date().nullable(),
});
const linkTable = defineTable(LinkRow);
const updatedColumns = defineTable(LinkRow.omit({ id: true, paidFrom: true })).assignFrom(
  "excluded",
);

const isLinkKnown = (tx: Transaction, linkId: string): Promise<boolean> =>
  tx.exists(sql.type(FoundRow)`SELECT true AS "isFound" FROM links WHERE id = ${linkId}`);
