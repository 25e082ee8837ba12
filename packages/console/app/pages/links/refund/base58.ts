const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const base = BigInt(alphabet.length);

/** Encodes bytes in base58, as Solana's explorers spell a signature. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (; number > 0n; number /= base) text = alphabet[Number(number % base)] + text;
  const zeroCount = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeroCount === -1 ? bytes.length : zeroCount) + text;
};
