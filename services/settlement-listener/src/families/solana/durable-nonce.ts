import { readBase58 } from "@payment-links/contracts";
import type { SolanaTransaction } from "./verify-transaction.ts";

const systemProgram = "11111111111111111111111111111111";
const advanceNonce = 4;
const dataCharactersMax = 8;

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
  return (
    bytes?.length === 4 && bytes[0] === advanceNonce && bytes.slice(1).every((one) => one === 0)
  );
};
