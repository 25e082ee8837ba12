/**
 * Names a chain's payments apart from those of every other source (rule CHAIN-3). EVM chains, which have
 * decimal ids, keep the name with which they began: it names payments for ever.
 */
export const getChainSource = (chainId: string): string =>
  /^\d/.test(chainId) ? `evm:${chainId}` : `chain:${chainId}`;
