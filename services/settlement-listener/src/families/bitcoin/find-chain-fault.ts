import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinReader } from "./bitcoin-reader.ts";

type ChainReads = Pick<BitcoinReader, "readChain" | "keepsTransactions">;

/**
 * Compares a provider with the catalogue (rule CHAIN-9): its genesis hash; and it must find transactions
 * by their ids. Returns the difference in words for an operator, or undefined. Throws
 * `ChainUnreachableError` if the provider does not answer, which is no fault.
 */
export const findChainFault = async (
  { chainName }: BitcoinChain,
  reader: ChainReads,
): Promise<string | undefined> => {
  const served = await reader.readChain();
  if (served !== chainName) return `the node serves the chain of genesis ${served}`;
  const hasIndex = await reader.keepsTransactions();
  return hasIndex ? undefined : "the node keeps no index of transactions (txindex=1)";
};
