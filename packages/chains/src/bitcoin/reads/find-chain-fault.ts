import type { BitcoinChain } from "./bitcoin-chain.ts";
import type { BitcoinReader } from "./bitcoin-reader.ts";

type ChainReads = Pick<BitcoinReader, "readChain" | "hasTransactionIndex">;

/**
 * Checks that a provider matches the catalogue (rule CHAIN-9): it must serve the chain with the
 * right genesis hash and be able to look up transactions by id. Returns a description of the
 * mismatch for the operator, or undefined. Throws `ChainUnreachableError` if the provider does not
 * answer, because that is not a mismatch.
 */
export const findChainFault = async (
  { chainName }: BitcoinChain,
  reader: ChainReads,
): Promise<string | undefined> => {
  const servedChainName = await reader.readChain();
  if (servedChainName !== chainName)
    return `the node serves a chain whose genesis hash starts with ${servedChainName}`;
  const hasTransactionIndex = await reader.hasTransactionIndex();
  return hasTransactionIndex ? undefined : "the node has no transaction index (txindex=1)";
};
