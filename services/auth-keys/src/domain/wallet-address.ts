import { type WalletFault, getFamily, parseWallet } from "@payment-links/chains";
import {
  type ApiErrorCode,
  type CatalogueChain,
  type CatalogueToken,
  type SolanaAccountStateRequest,
  createApiError,
} from "@payment-links/contracts";

const errorCodes: Readonly<Record<WalletFault, ApiErrorCode>> = {
  private_key: "PRIVATE_KEY_REFUSED",
  single_address: "BITCOIN_KEY_REQUIRED",
  invalid: "INVALID_WALLET_ADDRESS",
};

/**
 * Parses an address as a user typed it into the normalized form of its chain family. On Bitcoin,
 * parses an account's extended public key into its descriptor. Throws PRIVATE_KEY_REFUSED,
 * BITCOIN_KEY_REQUIRED or INVALID_WALLET_ADDRESS. Error messages do not repeat the input.
 */
export const parseWalletAddress = (chain: CatalogueChain, input: string): string => {
  const parseResult = parseWallet(chain, input);
  if ("fault" in parseResult) throw createApiError(errorCodes[parseResult.fault]);
  return parseResult.walletAddress;
};

/**
 * Returns the query that must be sent to the chain before an address becomes a wallet, or undefined
 * if no query is needed. Only tokens that programs manage need one, because a token account looks
 * like a wallet address.
 */
export const buildAccountStateRequest = (
  token: CatalogueToken,
  walletAddress: string,
): SolanaAccountStateRequest | undefined =>
  getFamily(token.chain.chainType).hasTokenPrograms && !token.isNative
    ? {
        chainId: token.chain.id,
        tokenAddress: token.address,
        payer: walletAddress,
        owner: walletAddress,
      }
    : undefined;

const firstAddressCount = 5;

/**
 * Derives the first addresses of a wallet that is a key, so that its owner can compare them.
 * Returns null if wallets on the chain are addresses.
 */
export const deriveFirstAddresses = (
  { id, chainType }: Pick<CatalogueChain, "id" | "chainType">,
  walletAddress: string,
): string[] | null => {
  const range = { startIndex: 0, count: firstAddressCount };
  return getFamily(chainType).linkAddresses?.deriveAddresses(id, walletAddress, range) ?? null;
};
