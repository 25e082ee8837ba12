import { getTokenProgram } from "../token-account.ts";
import type { CatalogueToken } from "@payment-links/contracts";
import type { SolanaChain } from "./solana-chain.ts";
import type { SolanaReader } from "./solana-reader.ts";

type ChainReads = Pick<SolanaReader, "readChain" | "readAccounts">;

const accountsPerRequestMax = 100;

/**
 * Checks that a provider matches the catalogue (rule CHAIN-9): its genesis hash, and the program
 * and decimals of each token's mint. Returns a description of the mismatch for the operator, or
 * undefined. Throws if no provider answers, because that is not a mismatch.
 */
export const findChainFault = async (
  chain: SolanaChain,
  reader: ChainReads,
): Promise<string | undefined> => {
  const servedChainName = await reader.readChain();
  if (servedChainName !== chain.chainName)
    return `the node serves a chain whose genesis hash starts with ${servedChainName}`;
  const tokens = [...chain.tokens.values()];
  for (let start = 0; start < tokens.length; start += accountsPerRequestMax) {
    const batch = tokens.slice(start, start + accountsPerRequestMax);
    const accounts = await reader.readAccounts(batch.map(({ address }) => address));
    for (const [index, token] of batch.entries()) {
      const fault = findMintFault(token, accounts[index] ?? null);
      if (fault !== undefined) return `token ${token.id} at ${token.address}: ${fault}`;
    }
  }
  return undefined;
};

const mintLength = 82;
/** In a mint with extensions, the offset of the byte with the account type. */
const accountTypeOffset = 165;
const mintAccountType = 1;
const decimalsOffset = 44;
const isInitializedOffset = 45;

const findMintFault = (
  token: CatalogueToken,
  account: { program: string; data: Uint8Array } | null,
): string | undefined => {
  if (account === null) return "the mint does not exist";
  if (account.program !== getTokenProgram(token)) {
    return `its program is ${account.program}, not ${getTokenProgram(token)}`;
  }
  const { data } = account;
  const isMint = data.length === mintLength || data[accountTypeOffset] === mintAccountType;
  if (!isMint || data[isInitializedOffset] !== 1) return "the account is not a mint";
  const decimals = data[decimalsOffset];
  return decimals === token.decimals
    ? undefined
    : `decimals are ${decimals}, not ${token.decimals}`;
};
