/**
 * What is wrong with a typed address: no form of this family; a form whose checksum does not hold;
 * right, but of another network; right, but nobody could spend what is sent there.
 */
export type AddressFault = "malformed" | "checksum" | "network" | "unspendable";

/** An address in the one form of its family, or what is wrong with it. */
export type AddressParseResult = { address: string } | { fault: AddressFault };

/** Whether bytes are all zero: no family has a key for such an address. */
export const isAllZeroBytes = (bytes: Iterable<number>): boolean => {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
};

/** What a decoder of a library answers; undefined where it throws. */
export const tryDecode = <Decoded>(decode: () => Decoded): Decoded | undefined => {
  try {
    return decode();
  } catch {
    return undefined;
  }
};
