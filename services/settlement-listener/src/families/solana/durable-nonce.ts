import { decodeBase58 } from "@payment-links/contracts";
import type { SolanaTransaction } from "./verify-transaction.ts";

const systemProgram = "11111111111111111111111111111111";
/** Its kind, in four bytes; the runtime passes over what follows. */
const advanceNonceBytes = [4, 0, 0, 0];
/** As much as is read at all. */
const dataCharactersMax = 4_096;

/**
 * Whether a transaction lives by a durable nonce, and so never expires: its first instruction is the
 * system program's to advance one.
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
