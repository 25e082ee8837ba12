/**
 * Returns the source name that separates a chain's payments from those of every other source (rule
 * CHAIN-3). EVM chains, which have decimal ids, keep their original `evm:` prefix permanently,
 * because payment ids depend on it.
 */
export const getChainSource = (chainId: string): string =>
  /^\d/.test(chainId) ? `evm:${chainId}` : `chain:${chainId}`;
