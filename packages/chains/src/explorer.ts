import type { ChainType } from "./chain-types.ts";
import { getFamily } from "./families.ts";

type ExplorableChain = {
  chainType: ChainType;
  /** `{}` stands for the transaction hash. The default is the path of EIP-3091. */
  explorer?: { url: string; paths?: { transactions: string } | undefined } | undefined;
};

/**
 * Returns the explorer's URL of a transaction, or undefined if the chain has no explorer or the
 * text is not a transaction hash.
 */
export const buildExplorerUrl = (
  { chainType, explorer }: ExplorableChain,
  transactionHash: string,
): string | undefined => {
  const [, explorerHash] = getFamily(chainType).transactionHashPattern.exec(transactionHash) ?? [];
  if (explorer === undefined || explorerHash === undefined) return undefined;
  return explorer.url + (explorer.paths?.transactions ?? "/tx/{}").replace("{}", explorerHash);
};
