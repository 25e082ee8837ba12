import { ChainUnreachableError, type Witness } from "../../watch/chain-reader.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinReader } from "./bitcoin-reader.ts";

type ChainReads = Pick<BitcoinReader, "readChain" | "keepsTransactions">;

/**
 * Holds a chain against the catalogue (rule CHAIN-9): its genesis hash; and each provider that answers
 * must find transactions by their ids. Answers what is wrong in words for an operator, or undefined.
 * Throws where nobody can be asked, which is no fault.
 */
export const findChainFault = async (
  { chainName }: BitcoinChain,
  reader: ChainReads,
  witnesses: readonly Witness<ChainReads>[],
): Promise<string | undefined> => {
  const served = await reader.readChain();
  if (served !== chainName) return `the node serves the chain of genesis ${served}`;
  for (const [index, witness] of witnesses.entries()) {
    if (!(await keepsTransactions(witness))) {
      return `rpc-${index + 1} keeps no index of transactions (txindex=1)`;
    }
  }
  return undefined;
};

/** Of one that is away nothing is known. */
const keepsTransactions = async ({ reader }: Witness<ChainReads>): Promise<boolean> => {
  try {
    return await reader.keepsTransactions();
  } catch (error) {
    if (error instanceof ChainUnreachableError) return true;
    throw error;
  }
};
