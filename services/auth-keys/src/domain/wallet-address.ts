import {
  type CatalogueChain,
  type CatalogueToken,
  type SolanaFactsQuestion,
  bitcoinAddresses,
  isBitcoinChainId,
  mayBePrivateKey,
  readAddress,
  readBitcoinAddress,
  readBitcoinKey,
  refuse,
} from "@payment-links/contracts";

/**
 * Reads an address as a person typed it, into the one form of its chain family; on Bitcoin an
 * account's key, into its descriptor. Throws PRIVATE_KEY_REFUSED, BITCOIN_KEY_REQUIRED, and
 * INVALID_WALLET_ADDRESS for what can only lose money: a wrong checksum, another family's or
 * network's address, the zero address. What was typed is in none of them.
 */
export const readWalletAddress = (chain: CatalogueChain, typed: string): string => {
  if (mayBePrivateKey(typed)) throw refuse("PRIVATE_KEY_REFUSED");
  if (chain.chainType === "BVM") return readBitcoinWallet(chain.id, typed);
  const reading = readAddress(chain, typed);
  if ("fault" in reading) throw refuse("INVALID_WALLET_ADDRESS");
  return reading.address;
};

const readBitcoinWallet = (chainId: string, typed: string): string => {
  if (!isBitcoinChainId(chainId)) throw refuse("INVALID_WALLET_ADDRESS");
  const reading = readBitcoinKey(chainId, typed);
  if ("descriptor" in reading) return reading.descriptor;
  const isAddress = "address" in readBitcoinAddress(chainId, typed);
  throw refuse(isAddress ? "BITCOIN_KEY_REQUIRED" : "INVALID_WALLET_ADDRESS");
};

/**
 * What the chain is asked before an address becomes a wallet; undefined except for tokens on Solana, where a
 * token account looks like a wallet's address.
 */
export const questionAboutWallet = (
  token: CatalogueToken,
  walletAddress: string,
): SolanaFactsQuestion | undefined =>
  token.chain.chainType === "SVM" && !token.isNative
    ? {
        chainId: token.chain.id,
        tokenAddress: token.address,
        payer: walletAddress,
        owner: walletAddress,
      }
    : undefined;

const firstAddressesCount = 5;

/** The first addresses of a wallet on Bitcoin, for its owner to compare; null elsewhere. */
export const firstAddresses = (chainId: string, walletAddress: string): string[] | null =>
  isBitcoinChainId(chainId)
    ? bitcoinAddresses(chainId, walletAddress, { from: 0, count: firstAddressesCount })
    : null;
