import type { CatalogueToken } from "@payment-links/contracts";
import { type SolanaChain, programOf } from "./solana-chain.ts";
import type { SolanaReader } from "./solana-reader.ts";

type ChainReads = Pick<SolanaReader, "readChain" | "readAccounts">;

const accountsAtOnceMax = 100;

/**
 * Holds a chain against the catalogue (rule CHAIN-9): its genesis hash, and of each token the mint, its
 * program and decimals. Answers what is wrong in words for an operator, or undefined. Throws where
 * nobody can be asked, which is no fault.
 */
export const findChainFault = async (
  chain: SolanaChain,
  reader: ChainReads,
): Promise<string | undefined> => {
  const served = await reader.readChain();
  if (served !== chain.chainName) return `the node serves the chain of genesis ${served}`;
  const tokens = [...chain.tokens.values()];
  for (let from = 0; from < tokens.length; from += accountsAtOnceMax) {
    const some = tokens.slice(from, from + accountsAtOnceMax);
    const accounts = await reader.readAccounts(some.map(({ address }) => address));
    for (const [index, token] of some.entries()) {
      const fault = findMintFault(token, accounts[index] ?? null);
      if (fault !== undefined) return `token ${token.id} at ${token.address}: ${fault}`;
    }
  }
  return undefined;
};

const mintBytes = 82;
/** Where a mint with extensions says that it is one. */
const kindByte = 165;
const kindOfMint = 1;
const decimalsByte = 44;
const isInitializedByte = 45;

const findMintFault = (
  token: CatalogueToken,
  account: { program: string; data: Uint8Array } | null,
): string | undefined => {
  if (account === null) return "there is no mint";
  if (account.program !== programOf(token)) {
    return `it is of the program ${account.program}, not ${programOf(token)}`;
  }
  const { data } = account;
  const isMint = data.length === mintBytes || data[kindByte] === kindOfMint;
  if (!isMint || data[isInitializedByte] !== 1) return "it is no mint";
  const decimals = data[decimalsByte];
  return decimals === token.decimals
    ? undefined
    : `decimals are ${decimals}, not ${token.decimals}`;
};
