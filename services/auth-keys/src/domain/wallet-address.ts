import {
  type CatalogueChain,
  type CatalogueToken,
  type SolanaAccountStateRequest,
  deriveBitcoinAddresses,
  isBitcoinChainId,
  mayBePrivateKey,
  parseAddress,
  parseBitcoinAddress,
  parseBitcoinKey,
  createApiError,
} from "@payment-links/contracts";

/**
 * Reads an address as a person typed it, into the one form of its chain family; on Bitcoin an
 * account's key, into its descriptor. Throws PRIVATE_KEY_REFUSED, BITCOIN_KEY_REQUIRED, and
 * INVALID_WALLET_ADDRESS for what can only lose money: a wrong checksum, another family's or
 * network's address, the zero address. What was typed is in none of them.
 */
export const parseWalletAddress = (chain: CatalogueChain, input: string): string => {
  if (mayBePrivateKey(input)) throw createApiError("PRIVATE_KEY_REFUSED");
  if (chain.chainType === "BVM") return parseBitcoinWallet(chain.id, input);
  const parseResult = parseAddress(chain, input);
  if ("fault" in parseResult) throw createApiError("INVALID_WALLET_ADDRESS");
  return parseResult.address;
};

const parseBitcoinWallet = (chainId: string, input: string): string => {
  if (!isBitcoinChainId(chainId)) throw createApiError("INVALID_WALLET_ADDRESS");
  const parseResult = parseBitcoinKey(chainId, input);
  if ("descriptor" in parseResult) return parseResult.descriptor;
  const isAddress = "address" in parseBitcoinAddress(chainId, input);
  throw createApiError(isAddress ? "BITCOIN_KEY_REQUIRED" : "INVALID_WALLET_ADDRESS");
};

/**
 * What the chain is asked before an address becomes a wallet; undefined except for tokens on Solana, where a
 * token account looks like a wallet's address.
 */
export const buildAccountStateRequest = (
  token: CatalogueToken,
  walletAddress: string,
): SolanaAccountStateRequest | undefined =>
  token.chain.chainType === "SVM" && !token.isNative
    ? {
        chainId: token.chain.id,
        tokenAddress: token.address,
        payer: walletAddress,
        owner: walletAddress,
      }
    : undefined;

const firstAddressCount = 5;

/** The first addresses of a wallet on Bitcoin, for its owner to compare; null elsewhere. */
export const deriveFirstAddresses = (chainId: string, walletAddress: string): string[] | null =>
  isBitcoinChainId(chainId)
    ? deriveBitcoinAddresses(chainId, walletAddress, { startIndex: 0, count: firstAddressCount })
    : null;
