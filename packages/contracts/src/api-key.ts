import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Mode } from "./mode.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 30;
const checksumLength = 6;
const apiKeyPattern = /^plk_(?:live|test)_[0-9A-Za-z]{36}$/;

/**
 * The number of leading characters of a key that may be shown: its prefix and four random
 * characters.
 */
export const apiKeyPrefixLength = 13;

/**
 * Generates an API key (rule CALLER-2): `plk_live_` or `plk_test_`, 30 random base62 characters
 * (178 bits), then the CRC-32 of the preceding characters as 6 base62 digits.
 */
export const generateApiKey = (mode: Mode): string => {
  const random = Array.from({ length: randomLength }, () => base62.charAt(randomInt(62))).join("");
  const keyWithoutChecksum = `plk_${mode}_${random}`;
  return keyWithoutChecksum + computeChecksum(keyWithoutChecksum);
};

/**
 * Returns whether a text has the format and the checksum of an API key, without a database lookup.
 */
export const isApiKey = (text: string): boolean =>
  apiKeyPattern.test(text) &&
  text.slice(-checksumLength) === computeChecksum(text.slice(0, -checksumLength));

/**
 * Returns the SHA-256 of a secret, the only form in which API keys, session tokens and sign-in
 * tokens are stored or cached.
 */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const computeChecksum = (keyWithoutChecksum: string): string => {
  let remainder = crc32(keyWithoutChecksum);
  let digits = "";
  for (let digitIndex = 0; digitIndex < checksumLength; digitIndex += 1) {
    digits = base62.charAt(remainder % 62) + digits;
    remainder = Math.floor(remainder / 62);
  }
  return digits;
};
