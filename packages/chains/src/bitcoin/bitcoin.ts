import { bytesToHex } from "@noble/hashes/utils.js";
import type { ChainFamily } from "../chain-family.ts";
import {
  type BitcoinChainId,
  isBitcoinChainId,
  normalizeBech32,
  parseBitcoinAddress,
} from "./address.ts";
import {
  computeBitcoinKeyId,
  deriveBitcoinAddresses,
  isBitcoinDescriptor,
  parseBitcoinKey,
} from "./key.ts";
import { hashDestinationAddress } from "./payment-reference.ts";

const satoshisMax = 21_000_000n * 100_000_000n;
/**
 * The dust limit in satoshis: nodes do not relay outputs below this amount. The limit depends on
 * the address type. This is the limit for P2PKH, the highest among the types that a destination can
 * have.
 */
const dustSatoshis = 546n;

const toBitcoinChainId = (chainId: string): BitcoinChainId => {
  if (!isBitcoinChainId(chainId)) throw new Error(`chain ${chainId} is not a Bitcoin network`);
  return chainId;
};

/** Bitcoin. A payment identifies its link by the link's own address. */
export const bitcoin: ChainFamily = {
  findEntryFault: ({ id }) =>
    isBitcoinChainId(id) ? undefined : `chain ${id} is not a supported Bitcoin network`,
  parseAddress: (chainId, input) => parseBitcoinAddress(toBitcoinChainId(chainId), input),
  // Base58 is case-sensitive.
  foldAddress: normalizeBech32,
  hasHexAddresses: false,
  addressForm: "the chain's symbol, or the token is not the chain's coin",
  transactionHashPattern: /^([0-9a-f]{64})$/,
  encodeTransactionHash: (bytes) => bytesToHex(bytes.subarray(0, 32)),
  isCoinNamedBySymbol: true,
  hasTokens: false,
  feeProxies: "none",
  hasTransferSuffix: false,
  hasTokenPrograms: false,
  hasLookalikes: false,
  amounts: { smallest: dustSatoshis, largest: satoshisMax, largestSum: satoshisMax },
  computeReferenceHash: hashDestinationAddress,
  hasTransactionRequests: false,
  browserWallets: "none",
  walletApps: [],
  hasSignInMessages: false,
  hasTransferTracking: false,
  isPolledByAccount: false,
  linkAddresses: {
    isSupportedChain: isBitcoinChainId,
    parseKey: (chainId, input) => {
      const parseResult = parseBitcoinKey(toBitcoinChainId(chainId), input);
      return "descriptor" in parseResult ? { key: parseResult.descriptor } : parseResult;
    },
    isKey: isBitcoinDescriptor,
    computeKeyId: (chainId, key) => computeBitcoinKeyId(toBitcoinChainId(chainId), key),
    deriveAddresses: (chainId, key, range) =>
      deriveBitcoinAddresses(toBitcoinChainId(chainId), key, range),
  },
};
