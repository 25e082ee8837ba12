/**
 * What is wrong with an address that a user entered:
 * - `malformed`: not an address format of this chain family
 * - `checksum`: the right format, but an invalid checksum
 * - `network`: a valid address of another network
 * - `unspendable`: a valid address whose funds no one can spend
 */
type AddressFault = "malformed" | "checksum" | "network" | "unspendable";

/** The address in its family's canonical form, or what is wrong with it. */
export type AddressParseResult = { address: string } | { fault: AddressFault };

/** Returns whether all bytes are zero. No chain family has a private key for such an address. */
export const isAllZeroBytes = (bytes: Iterable<number>): boolean => {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
};

/** Returns the result of a library's decoder, or undefined if the decoder throws. */
export const tryDecode = <Decoded>(decode: () => Decoded): Decoded | undefined => {
  try {
    return decode();
  } catch {
    return undefined;
  }
};
