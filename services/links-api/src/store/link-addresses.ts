import { sql } from "slonik";
import * as z from "zod";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

const AllocatedIndexRow = z.object({ index: z.int(), reservedTo: z.int() });
const NextIndexRow = z.object({ nextIndex: z.int(), reservedTo: z.int() });
const GapRow = z.object({ gap: z.int() });

/** The key and the index of an address. */
export type AddressIndex = { keyId: string; index: number };

/** An allocated address. All addresses of its key with an index below `reservedTo` are reserved. */
type AllocatedAddressIndex = AddressIndex & { reservedTo: number };

/** A key, and the index of its first address for links. */
type KeyRange = { keyId: string; firstIndex: number };

/**
 * Allocates the next index of a key and locks the key until the transaction ends. If the
 * transaction is rolled back, the index is free again. Transactions that allocate from the same key
 * wait for each other, so two of them never get the same index.
 */
export const allocateAddressIndex = async (
  tx: Transaction,
  { firstIndex, keyId }: KeyRange,
): Promise<AllocatedAddressIndex> => {
  const allocated = await tx.one(sql.type(AllocatedIndexRow)`
    INSERT INTO bitcoin_keys AS kept (key_id, next_index, first_index)
    VALUES (${keyId}, ${firstIndex + 1}, ${firstIndex})
    ON CONFLICT (key_id) DO UPDATE SET
      next_index = greatest(kept.next_index, excluded.first_index) + 1,
      first_index = greatest(kept.first_index, excluded.first_index)
    RETURNING next_index - 1 AS index, reserved_to AS "reservedTo"
  `);
  return { keyId, ...allocated };
};

/**
 * Stores a new key, or a higher first index for a stored key. Returns the next index and the end of
 * the reserved range. Returns undefined if the key is already stored with this first index or a
 * higher one.
 */
export const saveKey = async (
  tx: Transaction,
  { firstIndex, keyId }: KeyRange,
): Promise<{ nextIndex: number; reservedTo: number } | undefined> =>
  (await tx.maybeOne(sql.type(NextIndexRow)`
    INSERT INTO bitcoin_keys AS kept (key_id, next_index, first_index)
    VALUES (${keyId}, ${firstIndex}, ${firstIndex})
    ON CONFLICT (key_id) DO UPDATE SET
      next_index = greatest(kept.next_index, excluded.first_index),
      first_index = excluded.first_index
    WHERE kept.first_index < excluded.first_index
    RETURNING next_index AS "nextIndex", reserved_to AS "reservedTo"
  `)) ?? undefined;

/** Returns the next index of a key, or undefined if the key is unknown. */
export const findNextIndex = async (db: Db, keyId: string): Promise<number | undefined> => {
  const row = await db.maybeOne(sql.type(NextIndexRow)`
    SELECT next_index AS "nextIndex", reserved_to AS "reservedTo"
    FROM bitcoin_keys WHERE key_id = ${keyId}
  `);
  return row?.nextIndex;
};

/** Stores the end of a key's reserved range. The key must be locked by this transaction. */
export const saveReservedTo = async (
  tx: Transaction,
  keyId: string,
  reservedTo: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE bitcoin_keys SET reserved_to = ${reservedTo} WHERE key_id = ${keyId}
  `);
};

/** Stores which link an address belongs to. Throws if the address already belongs to a link. */
export const insertAddress = async (
  tx: Transaction,
  { keyId, index, address, linkId }: AddressIndex & { address: string; linkId: string },
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO bitcoin_addresses (key_id, address_index, address, link_id)
    VALUES (${keyId}, ${index}, ${address}, ${linkId})
  `);
};

/**
 * Stores that payments to these addresses were seen, which affects the address gap. Locks the
 * addresses in a fixed order to prevent deadlocks.
 */
export const markAddressesUsed = async (
  tx: Transaction,
  addresses: readonly string[],
): Promise<void> => {
  if (addresses.length === 0) return;
  await tx.query(sqlVoid`
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
 * Returns how many addresses in a row are unpaid, counted back from the newest address of the key
 * that a link's address belongs to. Addresses that are left to the owner's own wallet app do not
 * count. Returns undefined if the link does not have its own address.
 */
export const findAddressGap = async (db: Db, linkId: string): Promise<number | undefined> => {
  const row = await db.maybeOne(sql.type(GapRow)`
    SELECT k.next_index - 1 - greatest(k.first_index - 1, (
      SELECT max(used.address_index) FROM bitcoin_addresses used
      WHERE used.key_id = k.key_id AND used.is_used
    )) AS gap
    FROM bitcoin_addresses own JOIN bitcoin_keys k ON k.key_id = own.key_id
    WHERE own.link_id = ${linkId}
  `);
  return row?.gap;
};
