import { decodeBase58 } from "@payment-links/contracts";
import type { SolanaTransaction } from "./verify-transaction.ts";

const systemProgram = "11111111111111111111111111111111";
/** The instruction's kind in four bytes. The runtime ignores what follows. */
const advanceNonceBytes = [4, 0, 0, 0];
/** The maximum base58 length that is decoded. */
const dataCharactersMax = 4_096;

/**
 * Returns whether a transaction uses a durable nonce, and so never expires. Its first instruction
 * is then the system program's instruction to advance a nonce.
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
