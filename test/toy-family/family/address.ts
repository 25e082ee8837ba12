import type { AddressParseResult } from "../../../packages/chains/src/address-parse-result.ts";

/** `toy1`, eight bytes in hex, and a checksum byte: their sum. */
const addressPattern = /^toy1([0-9a-f]{16})([0-9a-f]{2})$/;

/** Creates the address of an account from its 16 hex digits. */
export const createToyAddress = (digits: string): string => `toy1${digits}${computeSum(digits)}`;

/** Parses an address in lowercase. */
export const parseToyAddress = (input: string): AddressParseResult => {
  const [, digits, sum] = addressPattern.exec(input) ?? [];
  if (digits === undefined) return { fault: "malformed" };
  return sum === computeSum(digits) ? { address: input } : { fault: "checksum" };
};

const computeSum = (digits: string): string =>
  (Buffer.from(digits, "hex").reduce((sum, byte) => sum + byte, 0) % 256)
    .toString(16)
    .padStart(2, "0");
