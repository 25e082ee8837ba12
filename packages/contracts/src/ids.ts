import { createHash } from "node:crypto";
import { fromString, fromUUID, fromUUIDBytes, toUUID, typeidUnboxed } from "typeid-js";
import * as z from "zod";

/** The kinds of objects with a TypeID. The prefix names the kind. */
export type IdPrefix =
  | "user"
  | "plink"
  | "tx"
  | "dep"
  | "rfd"
  | "whe"
  | "whl"
  | "evt"
  | "key"
  | "wallet"
  | "sess"
  | "req"
  | "dlv"
  | "idn"
  | "pky"
  | "aud";

/**
 * Creates a TypeID with a type prefix, sortable by time, with 74 random bits (TypeID 0.3, RFC 9562
 * UUIDv7).
 */
export const newId = (prefix: IdPrefix): string => typeidUnboxed(prefix);

/**
 * Derives an id from names. The same names always give the same id. Someone who does not know all
 * of the names cannot guess the id (122 bits of SHA-256 as a UUIDv8 of RFC 9562). It does not
 * contain a time.
 */
export const createDeterministicId = (prefix: IdPrefix, nameParts: readonly string[]): string => {
  const bytes = createHash("sha256").update(JSON.stringify(nameParts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0b0000_1111) | 0b1000_0000, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0b0011_1111) | 0b1000_0000, 8);
  return fromUUIDBytes(prefix, bytes);
};

/** Converts a UUID from the database to an id. */
export const uuidToId = (prefix: IdPrefix, uuid: string): string => fromUUID(uuid, prefix);

/** Returns the UUID of an id, as the database stores it. */
export const idToUuid = (id: string): string => toUUID(fromString(id));

/** Returns whether a text has the format of an id with that prefix, without a database lookup. */
export const isId = (prefix: IdPrefix, text: string): boolean =>
  text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && idSuffixPattern.test(text);

const idSuffixPattern = /_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The schema of an id in responses and events. */
export const Id = z.string().min(1).max(64);
