import { sql } from "slonik";
import * as z from "zod";
import type { Db } from "@payment-links/postgres";
import { type FollowedLink, parseFollowedKey } from "../domain/followed-link.ts";
import { selectFirstWithPrefix, buildPendingCondition, pendingPaymentsMax } from "./payments.ts";
import { type LoadOne, createBatchLoader } from "./batch-loader.ts";

/**
 * Creates a loader for the fingerprints of followed links, which combines the requests of one turn
 * of the event loop. An unknown link does not have a fingerprint.
 */
export const createLinkFingerprintLoader = (db: Db, clock: { now(): Date }): LoadOne<string> =>
  createBatchLoader(async (keys) => {
    const linksWithoutFingerprint = keys.map((key) => ({
      key,
      fingerprint: "",
      ...parseFollowedKey(key),
    }));
    const fingerprints = await findChangedFingerprints(db, linksWithoutFingerprint, clock.now());
    return new Map(fingerprints.map(({ key, fingerprint }) => [key, fingerprint]));
  });

/** A followed link, with its fingerprint at the time of the last read. */
export type FingerprintedLink = FollowedLink & { key: string; fingerprint: string };

const FingerprintRow = z.object({ key: z.string(), fingerprint: z.string() });

const followedPaymentClause = selectFirstWithPrefix({
  prefix: sql.fragment`followed.prefix`,
  source: sql.fragment`followed.source`,
});

/**
 * Returns the new fingerprints of those links whose fingerprint has changed. A fingerprint covers
 * everything in the checkout response: the link, its owner, its pending payments with the progress
 * of their chains, and the followed payment. It also covers the link's status at `now`, because a
 * link that expires is not written to. Each link is looked up by index. `OFFSET 0` prevents the
 * planner from reading all links instead.
 */
export const findChangedFingerprints = async (
  db: Db,
  links: readonly FingerprintedLink[],
  now: Date,
): Promise<readonly { key: string; fingerprint: string }[]> =>
  db.any(sql.prepared("find_new_marks", FingerprintRow)`
    SELECT followed.key, marks.mark AS fingerprint
    FROM ${sql.unnest(
      links.map(({ key, linkId, payment, fingerprint }) => [
        key,
        linkId,
        payment?.source ?? null,
        payment?.prefix ?? null,
        fingerprint,
      ]),
      ["text", "text", "text", "text", "text"],
    )} AS followed (key, link_id, source, prefix, mark)
    CROSS JOIN LATERAL (
      SELECT links.id, links.version, links.status, links.expires_at, links.chain_id,
             links.token_address, links.destination_address,
             accounts.version AS owner_version, accounts.told_at AS owner_told_at
      FROM links JOIN accounts ON accounts.id = links.user_id
      WHERE links.id = followed.link_id
      OFFSET 0
    ) AS link
    CROSS JOIN LATERAL (
      SELECT string_agg(
        concat_ws(' ', newest.id, newest.version, chain.head_block, chain.needed_blocks),
        ' ' ORDER BY newest.id
      ) AS versions
      FROM (
        SELECT id, version, chain_id, block_number FROM payments
        WHERE ${buildPendingCondition(sql.fragment`link`)}
        ORDER BY first_seen_at DESC, id DESC LIMIT ${pendingPaymentsMax}
      ) AS newest
      LEFT JOIN chain_advances AS chain
        ON chain.chain_id = newest.chain_id AND newest.block_number IS NOT NULL
    ) AS pending
    CROSS JOIN LATERAL (
      SELECT md5(concat_ws(
        ',', link.version, link.status, coalesce(link.expires_at <= ${now.toISOString()}, false),
        link.owner_version, extract(epoch FROM link.owner_told_at), pending.versions,
        (SELECT concat_ws(' ', id, version, status) FROM payments ${followedPaymentClause})
      )) AS mark
    ) AS marks
    WHERE marks.mark <> followed.mark
  `);
