import { sql } from "slonik";
import * as z from "zod";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";

const IndexRow = z.object({ index: z.int() });
const GapRow = z.object({ gap: z.int() });

/** Which address of a key a link takes. */
export type AddressPlace = { keyId: string; index: number };

/**
 * Takes an index of a key until the transaction ends: one whose link ended unpaid before an instant, or
 * else the next one. What is rolled back is free again. Two at once never take the same; those on
 * one key wait for each other, as a next index is only known once the one before it is.
 */
export const takeAddressPlace = async (
  tx: Transaction,
  { keyId, endedBefore }: { keyId: string; endedBefore: Date },
): Promise<AddressPlace> => {
  const free = await tx.maybeOne(sql.type(IndexRow)`
    SELECT address_index AS index FROM bitcoin_addresses
    WHERE key_id = ${keyId} AND NOT is_used AND ended_at <= ${sql.timestamp(endedBefore)}
    ORDER BY ended_at, address_index LIMIT 1
    FOR UPDATE SKIP LOCKED
  `);
  if (free !== null) return { keyId, index: free.index };
  const { index } = await tx.one(sql.type(IndexRow)`
    INSERT INTO bitcoin_keys AS kept (key_id, next_index) VALUES (${keyId}, 1)
    ON CONFLICT (key_id) DO UPDATE SET next_index = kept.next_index + 1
    RETURNING next_index - 1 AS index
  `);
  return { keyId, index };
};

/**
 * Writes whose address it is now, and when that link ends by itself. Throws where another link still has
 * it, whatever this process believes.
 */
export const keepAddress = async (
  tx: Transaction,
  place: AddressPlace & { address: string; linkId: string; endsAt: Date | null; endedBefore: Date },
): Promise<void> => {
  const { keyId, index, address, linkId, endsAt, endedBefore } = place;
  await tx.one(sql.type(IndexRow)`
    INSERT INTO bitcoin_addresses AS kept (key_id, address_index, address, link_id, ended_at)
    VALUES (
      ${keyId}, ${index}, ${address}, ${linkId}, ${endsAt === null ? null : sql.timestamp(endsAt)}
    )
    ON CONFLICT (key_id, address_index) DO UPDATE SET
      link_id = excluded.link_id, ended_at = excluded.ended_at
    WHERE NOT kept.is_used AND kept.ended_at <= ${sql.timestamp(endedBefore)}
    RETURNING address_index AS index
  `);
};

/** Writes that a link ends now, which may have an address that others can take later. */
export const endAddress = async (
  tx: Transaction,
  { linkId, now }: { linkId: string; now: Date },
): Promise<void> => {
  await tx.query(nothing`
    UPDATE bitcoin_addresses SET ended_at = ${sql.timestamp(now)} WHERE link_id = ${linkId}
  `);
};

/**
 * Writes that payments to addresses were seen: nobody gets these again. They are locked in one order,
 * as two links may have had the same one.
 */
export const markAddressesUsed = async (
  tx: Transaction,
  addresses: readonly string[],
): Promise<void> => {
  if (addresses.length === 0) return;
  await tx.query(nothing`
    UPDATE bitcoin_addresses AS kept SET is_used = true
    FROM (
      SELECT key_id, address_index FROM bitcoin_addresses
      WHERE address = ANY (${sql.array([...new Set(addresses)], "text")}) AND NOT is_used
      ORDER BY key_id, address_index FOR UPDATE
    ) AS seen
    WHERE kept.key_id = seen.key_id AND kept.address_index = seen.address_index
  `);
};

/**
 * How many addresses in a row, up to the newest of the key of a link's address, were never paid;
 * undefined for a link without such an address of its own.
 */
export const findAddressGap = async (db: Db, linkId: string): Promise<number | undefined> => {
  const row = await db.maybeOne(sql.type(GapRow)`
    SELECT k.next_index - 1 - coalesce((
      SELECT max(used.address_index) FROM bitcoin_addresses used
      WHERE used.key_id = k.key_id AND used.is_used
    ), -1) AS gap
    FROM bitcoin_addresses own JOIN bitcoin_keys k ON k.key_id = own.key_id
    WHERE own.link_id = ${linkId}
  `);
  return row?.gap;
};
