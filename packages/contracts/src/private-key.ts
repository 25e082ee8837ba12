/** Longer than any private key or list of words that a person types. */
const lengthMax = 4096;
const wordsMin = 12;

const privateKeyPatterns: readonly RegExp[] = [
  // An extended private key (BIP-32, SLIP-132), alone or within a descriptor. Where base58 goes on before
  // it, these letters are chance, and so they are in what is no longer than an address.
  /(?:^|[^1-9A-HJ-NP-Za-km-z])[a-z]prv[1-9A-HJ-NP-Za-km-z]{45}/i,
  // WIF, alone or within a descriptor.
  /(?:^|[(\],])[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}(?:$|[)#,/])/,
  // BIP-38.
  /^6P[1-9A-HJ-NP-Za-km-z]{56}$/,
  // 32 bytes, as EVM and Tron have them, and 64, as Solana has.
  /^(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{128})$/i,
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
  /^\[?\s*(?:\d{1,3}\s*,\s*){31,63}\d{1,3}\s*\]?$/,
];

/**
 * Whether a text may be a private key of any family, or recovery words. It need not be right in every
 * character: a secret with a typing error is a secret. What answers true must be kept nowhere.
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

/** Any twelve words, whatever their language; lists with numbers before each word too. */
const isWordList = (text: string): boolean => {
  const words = text.split(/[\s.,;:)]+/u).filter((word) => !/^\d*$/.test(word));
  return words.length >= wordsMin && words.every((word) => /^[\p{L}\p{M}]{1,20}$/u.test(word));
};
