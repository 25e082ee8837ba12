import type { ChainFamily } from "../../../packages/chains/src/chain-family.ts";
import { hashPaymentReference } from "../../../packages/chains/src/payment-reference.ts";
import { parseToyAddress } from "./address.ts";

/** The toy family. A transfer contains the reference of the link that it pays. */
export const tron: ChainFamily = {
  findEntryFault: () => undefined,
  parseAddress: (_chainId, input) => parseToyAddress(input),
  foldAddress: (address) => address,
  hasHexAddresses: false,
  addressForm: "a toy address",
  transactionHashPattern: /^(toytx[0-9]+)$/,
  encodeTransactionHash: (bytes) => `toytx${bytes.join("")}`,
  isCoinNamedBySymbol: true,
  hasTokens: true,
  feeProxies: "none",
  hasTransferSuffix: false,
  hasTokenPrograms: false,
  hasLookalikes: false,
  amounts: { smallest: 1n, largest: 2n ** 64n - 1n },
  computeReferenceHash: hashPaymentReference,
  hasTransactionRequests: false,
  browserWallets: "none",
  walletApps: [],
  hasSignInMessages: false,
  hasTransferTracking: false,
  isPolledByAccount: false,
};
