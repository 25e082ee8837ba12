import { bytesToHex } from "@noble/hashes/utils.js";
import type { ChainFamily } from "../chain-family.ts";
import { hashPaymentReference } from "../payment-reference.ts";
import { parseEvmAddress } from "./address.ts";
import { evmWalletApps } from "./wallet-apps.ts";

const chainIdPattern = /^[1-9]\d*$/;

/** EVM chains. A payment names its link in a topic of the fee proxy's event or in a suffix. */
export const evm: ChainFamily = {
  findEntryFault: ({ id, caip2 }) =>
    chainIdPattern.test(id) && caip2 === `eip155:${id}`
      ? undefined
      : `id and caip2 of EVM chain ${id} must name its decimal chain id`,
  parseAddress: (_chainId, input) => parseEvmAddress(input),
  foldAddress: (address) => address.toLowerCase(),
  hasHexAddresses: true,
  addressForm: "an EIP-55 address",
  transactionHashPattern: /^(0x[0-9a-f]{64})$/i,
  encodeTransactionHash: (bytes) => `0x${bytesToHex(bytes.subarray(0, 32))}`,
  isCoinNamedBySymbol: false,
  hasTokens: true,
  feeProxies: "tokens and coin",
  hasTransferSuffix: true,
  hasTokenPrograms: false,
  hasLookalikes: true,
  // A uint256.
  amounts: { smallest: 1n, largest: 2n ** 256n - 1n },
  computeReferenceHash: hashPaymentReference,
  hasTransactionRequests: false,
  browserWallets: "EIP-1193",
  walletApps: evmWalletApps,
  hasSignInMessages: true,
  hasTransferTracking: true,
  isPolledByAccount: false,
};
