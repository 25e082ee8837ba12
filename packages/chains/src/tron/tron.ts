import { bytesToHex } from "@noble/hashes/utils.js";
import type { ChainFamily } from "../chain-family.ts";
import { hashPaymentReference } from "../payment-reference.ts";
import { parseTronAddress } from "./address.ts";
import { tronWalletApps } from "./wallet-apps.ts";

/** Tron. A payment identifies its link by a topic of the fee proxy's event. */
export const tron: ChainFamily = {
  findEntryFault: () => undefined,
  parseAddress: (_chainId, input) => parseTronAddress(input),
  foldAddress: (address) => address,
  hasHexAddresses: false,
  addressForm: "a Tron address",
  // Nodes prefix hashes with 0x in their Ethereum-compatible API, but explorers do not.
  transactionHashPattern: /^(?:0x)?([0-9a-f]{64})$/i,
  encodeTransactionHash: (bytes) => bytesToHex(bytes.subarray(0, 32)),
  isCoinNamedBySymbol: true,
  hasTokens: true,
  feeProxies: "tokens",
  hasTransferSuffix: false,
  hasTokenPrograms: false,
  hasLookalikes: true,
  // A uint256.
  amounts: { smallest: 1n, largest: 2n ** 256n - 1n },
  computeReferenceHash: hashPaymentReference,
  hasTransactionRequests: false,
  browserWallets: "TronWeb",
  walletApps: tronWalletApps,
  hasSignInMessages: false,
  hasTransferTracking: false,
  isPolledByAccount: false,
};
