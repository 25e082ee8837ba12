import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinReader } from "./bitcoin-reader.ts";

type ChainReads = Pick<BitcoinReader, "readChain" | "hasTransactionIndex">;

/**
 * Compares a provider with the catalogue (rule CHAIN-9): its genesis hash must match, and it must
 * find transactions by id. Returns the difference in words for an operator, or undefined. Throws
 * `ChainUnreachableError` if the provider does not answer, which is no fault.
 */
export const findChainFault = async (
  { chainName }: BitcoinChain,
  reader: ChainReads,
): Promise<string | undefined> => {
  const servedChainName = await reader.readChain();
  if (servedChainName !== chainName)
    return `the node serves the chain of genesis ${servedChainName}`;
  const hasTransactionIndex = await reader.hasTransactionIndex();
  return hasTransactionIndex ? undefined : "the node keeps no index of transactions (txindex=1)";
};
