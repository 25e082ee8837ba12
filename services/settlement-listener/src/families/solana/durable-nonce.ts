import { readBase58 } from "@payment-links/contracts";
import type { SolanaTransaction } from "./verify-transaction.ts";

const systemProgram = "11111111111111111111111111111111";
/** Its kind, in four bytes; the runtime passes over what follows. */
const advanceNonce = [4, 0, 0, 0];
/** As much as is read at all. */
const dataCharactersMax = 4_096;

/**
 * Whether a transaction lives by a durable nonce, and so never expires: its first instruction is the
 * system program's to advance one.
 */
export const isOfDurableNonce = ({
  instructions: [first],
  keys,
}: Pick<SolanaTransaction, "instructions" | "keys">): boolean => {
  if (first === undefined || keys[first.programIndex] !== systemProgram) return false;
  const bytes = readBase58(first.data, dataCharactersMax);
  return bytes !== undefined && advanceNonce.every((byte, index) => bytes[index] === byte);
};
