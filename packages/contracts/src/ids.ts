import { createHash } from "node:crypto";
import { fromString, fromUUID, fromUUIDBytes, toUUID, typeidUnboxed } from "typeid-js";
import * as z from "zod";

/** The kinds of thing that have an id of ours. The prefix says which kind it is. */
export type IdPrefix =
  | "user"
  | "plink"
  | "tx"
  | "dep"
  | "whe"
  | "evt"
  | "key"
  | "wallet"
  | "sess"
  | "req"
  | "dlv"
  | "idn"
  | "pky"
  | "aud";

/** Makes a TypeID: type-prefixed, sortable by time, 74 random bits (TypeID 0.3, RFC 9562 UUIDv7). */
export const newId = (prefix: IdPrefix): string => typeidUnboxed(prefix);

/**
 * The id of a thing that is known by names: the same for the same names, wherever and however often it
 * is made. Who lacks one of them cannot guess it (122 bits of SHA-256 as a UUIDv8 of RFC 9562). It says
 * nothing of time.
 */
export const createDeterministicId = (prefix: IdPrefix, nameParts: readonly string[]): string => {
  const bytes = createHash("sha256").update(JSON.stringify(nameParts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0b0000_1111) | 0b1000_0000, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0b0011_1111) | 0b1000_0000, 8);
  return fromUUIDBytes(prefix, bytes);
};

/** The id of a thing to which the database gave a UUID. */
export const uuidToId = (prefix: IdPrefix, uuid: string): string => fromUUID(uuid, prefix);

/** The UUID behind an id, as the database keeps it. */
export const idToUuid = (id: string): string => toUUID(fromString(id));

/** Whether a text has the shape of an id of that kind; costs no look-up. */
export const isId = (prefix: IdPrefix, text: string): boolean =>
  text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && idSuffixPattern.test(text);

const idSuffixPattern = /_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** An id on the wire. */
export const Id = z.string().min(1).max(64);
