import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 30;
const checksumLength = 6;
const shape = /^plk_(?:live|test)_[0-9A-Za-z]{36}$/;

export type ApiKeyMode = "live" | "test";

/** How many characters of a key may be shown: its prefix and four random ones. */
export const shownKeyLength = 13;

/**
 * Makes an API key (rule CALLER-2): `plk_live_` or `plk_test_`, 30 random base62 (178 bits), and 6
 * base62 of the CRC-32 over what stands before them.
 */
export const mintApiKey = (mode: ApiKeyMode): string => {
  const random = Array.from({ length: randomLength }, () => base62.charAt(randomInt(62))).join("");
  const stem = `plk_${mode}_${random}`;
  return stem + checksumOf(stem);
};

/** Whether a text can be an API key at all: its shape and its checksum. Costs no look-up. */
export const isApiKey = (text: string): boolean =>
  shape.test(text) && text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength));

/** The only form in which a key, a session token or a sign-in token is stored or cached: its SHA-256. */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const checksumOf = (stem: string): string => {
  let rest = crc32(stem);
  let digits = "";
  for (let place = 0; place < checksumLength; place += 1) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};
