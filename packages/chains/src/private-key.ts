/** Longer than any private key or recovery phrase that a user enters. */
const lengthMax = 4096;
const wordsMin = 12;

const privateKeyPatterns: readonly RegExp[] = [
  // An extended private key (BIP-32, SLIP-132), alone or within a descriptor. If these letters
  // follow other base58 characters, or the text is no longer than an address, they are a
  // coincidence.
  /(?:^|[^1-9A-HJ-NP-Za-km-z])[a-z]prv[1-9A-HJ-NP-Za-km-z]{45}/i,
  // WIF, alone or within a descriptor.
  /(?:^|[(\],])[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}(?:$|[)#,/])/,
  // BIP-38.
  /^6P[1-9A-HJ-NP-Za-km-z]{56}$/,
  // 32 bytes, as EVM and Tron use, or 64 bytes, as Solana uses.
  /^(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{128})$/i,
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
  /^\[?\s*(?:\d{1,3}\s*,\s*){31,63}\d{1,3}\s*\]?$/,
];

/**
 * Returns whether a text may be a private key of any family, or a recovery phrase. Tolerates wrong
 * characters, because a secret with a typing error is still a secret. Never store or log a text for
 * which this returns true.
 */
export const mayBePrivateKey = (text: string): boolean => {
  if (text.length > lengthMax) return false;
  const normalizedText = text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .trim();
  const textWithoutSpaces = normalizedText.replaceAll(/\s/gu, "");
  return (
    privateKeyPatterns.some(
      (pattern) => pattern.test(normalizedText) || pattern.test(textWithoutSpaces),
    ) || isWordList(normalizedText)
  );
};

/**
 * Returns whether the text consists of at least twelve words in any language, each optionally
 * preceded by a number.
 */
const isWordList = (text: string): boolean => {
  const words = text.split(/[\s.,;:)]+/u).filter((word) => !/^\d*$/.test(word));
  return words.length >= wordsMin && words.every((word) => /^[\p{L}\p{M}]{1,20}$/u.test(word));
};
