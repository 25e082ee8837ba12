import { decodeBase58 } from "../address.ts";
import type { SolanaTransaction } from "./verify-transaction.ts";

const systemProgram = "11111111111111111111111111111111";
/** The four bytes that identify the instruction. The runtime ignores any further bytes. */
const advanceNonceBytes = [4, 0, 0, 0];
/** The maximum length of base58 to decode. */
const dataCharactersMax = 4_096;

/**
 * Returns whether a transaction uses a durable nonce, which means that it never expires. The first
 * instruction of such a transaction calls the system program to advance a nonce.
 */
export const usesDurableNonce = ({
  instructions: [firstInstruction],
  keys,
}: Pick<SolanaTransaction, "instructions" | "keys">): boolean => {
  if (firstInstruction === undefined || keys[firstInstruction.programIndex] !== systemProgram)
    return false;
  const bytes = decodeBase58(firstInstruction.data, dataCharactersMax);
  return bytes !== undefined && advanceNonceBytes.every((byte, index) => bytes[index] === byte);
};
