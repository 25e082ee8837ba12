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
 * Parses an address as a user typed it into the normalized form of its chain family. On Bitcoin,
 * parses an account's extended public key into its descriptor. Throws PRIVATE_KEY_REFUSED,
 * BITCOIN_KEY_REQUIRED or INVALID_WALLET_ADDRESS. Rejects addresses at which money would be lost:
 * the zero address, and addresses with a wrong checksum or of another chain family or network.
 * Error messages do not repeat the input.
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
 * Returns the query that must be sent to the chain before an address becomes a wallet, or undefined
 * if no query is needed. Only tokens on Solana need one, because a token account there looks like a
 * wallet address.
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

/**
 * Derives the first addresses of a Bitcoin wallet, so that its owner can compare them. Returns null
 * for other chains.
 */
export const deriveFirstAddresses = (chainId: string, walletAddress: string): string[] | null =>
  isBitcoinChainId(chainId)
    ? deriveBitcoinAddresses(chainId, walletAddress, { startIndex: 0, count: firstAddressCount })
    : null;
