import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 30;
const checksumLength = 6;
const apiKeyPattern = /^plk_(?:live|test)_[0-9A-Za-z]{36}$/;

export type ApiKeyMode = "live" | "test";

/** How many characters of a key may be shown: its prefix and four random ones. */
export const apiKeyPrefixLength = 13;

/**
 * Makes an API key (rule CALLER-2): `plk_live_` or `plk_test_`, 30 random base62 (178 bits), and 6
 * base62 of the CRC-32 over what stands before them.
 */
export const generateApiKey = (mode: ApiKeyMode): string => {
  const random = Array.from({ length: randomLength }, () => base62.charAt(randomInt(62))).join("");
  const keyWithoutChecksum = `plk_${mode}_${random}`;
  return keyWithoutChecksum + computeChecksum(keyWithoutChecksum);
};

/** Whether a text can be an API key at all: its shape and its checksum. Costs no look-up. */
export const isApiKey = (text: string): boolean =>
  apiKeyPattern.test(text) &&
  text.slice(-checksumLength) === computeChecksum(text.slice(0, -checksumLength));

/** The only form in which a key, a session token or a sign-in token is stored or cached: its SHA-256. */
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
