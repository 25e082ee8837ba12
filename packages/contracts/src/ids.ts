import { TypeID, typeid } from "typeid-js";
import * as z from "zod";

/** The kinds of thing that have an id of ours. The prefix says which kind it is. */
export type IdPrefix =
  | "user"
  | "plink"
  | "tx"
  | "whe"
  | "evt"
  | "key"
  | "wallet"
  | "sess"
  | "req"
  | "dlv"
  | "idn"
  | "aud";

/** Makes a TypeID: type-prefixed, sortable by time, 74 random bits (TypeID 0.3, RFC 9562 UUIDv7). */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString();

/** The id of a thing to which the database gave a UUID. */
export const idOfUuid = (prefix: IdPrefix, uuid: string): string =>
  TypeID.fromUUID(prefix, uuid).toString();

/** Whether a text has the shape of an id of that kind; costs no look-up. */
export const isId = (prefix: IdPrefix, text: string): boolean =>
  text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && idSuffix.test(text);

const idSuffix = /_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** An id on the wire. */
export const Id = z.string().min(1).max(64);
