import { base58 } from "@scure/base";
import type { ChainFamily } from "../chain-family.ts";
import { hashPaymentReference } from "../payment-reference.ts";
import { parseSolanaAddress } from "./address.ts";
import { solanaWalletApps } from "./wallet-apps.ts";

/** Solana. A payment identifies its link by a key in its transfer (Solana Pay's `reference`). */
export const solana: ChainFamily = {
  findEntryFault: () => undefined,
  parseAddress: (_chainId, input) => parseSolanaAddress(input),
  foldAddress: (address) => address,
  hasHexAddresses: false,
  addressForm: "a Solana address",
  // The transaction's first signature.
  transactionHashPattern: /^([1-9A-HJ-NP-Za-km-z]{64,88})$/,
  encodeTransactionHash: (bytes) => base58.encode(bytes),
  isCoinNamedBySymbol: true,
  hasTokens: true,
  feeProxies: "none",
  hasTransferSuffix: false,
  hasTokenPrograms: true,
  hasLookalikes: false,
  // A uint64.
  amounts: { smallest: 1n, largest: 2n ** 64n - 1n },
  computeReferenceHash: hashPaymentReference,
  hasTransactionRequests: true,
  browserWallets: "none",
  walletApps: solanaWalletApps,
  hasSignInMessages: false,
  hasTransferTracking: false,
  isPolledByAccount: true,
};
