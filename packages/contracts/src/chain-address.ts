import type { ChainType } from "./account.ts";
import type { AddressParseResult } from "./address-parse-result.ts";
import { normalizeBech32, isBitcoinChainId, parseBitcoinAddress } from "./bitcoin-address.ts";
import { hasValidEip55, isEvmAddress, toEip55 } from "./evm-address.ts";
import { parseSolanaAddress } from "./solana-address.ts";
import { parseTronAddress } from "./tron-address.ts";

type Chain = { id: string; chainType: ChainType };

/** Parses an address as a user entered it and returns the canonical form of its chain's family. */
export const parseAddress = (chain: Chain, input: string): AddressParseResult => {
  switch (chain.chainType) {
    case "EVM":
      return parseEvmAddress(input);
    case "SVM":
      return parseSolanaAddress(input);
    case "TVM":
      return parseTronAddress(input);
    case "BVM":
      if (!isBitcoinChainId(chain.id))
        throw new Error(`chain ${chain.id} is not a Bitcoin network`);
      return parseBitcoinAddress(chain.id, input);
  }
};

/** The case of a mixed-case address is a checksum (EIP-55). */
const parseEvmAddress = (input: string): AddressParseResult => {
  if (!isEvmAddress(input)) return { fault: "malformed" };
  if (!hasValidEip55(input)) return { fault: "checksum" };
  return /^0x0+$/.test(input) ? { fault: "unspendable" } : { address: toEip55(input) };
};

/**
 * Returns whether two addresses of one chain family are the same. EVM addresses are compared
 * ignoring case, and a bech32 address may be all uppercase. Base58 is case-sensitive.
 */
export const isSameAddress = (chainType: ChainType, a: string, b: string): boolean =>
  foldCase(chainType, a) === foldCase(chainType, b);

const foldCase = (chainType: ChainType, address: string): string => {
  if (chainType === "EVM") return address.toLowerCase();
  return chainType === "BVM" ? normalizeBech32(address) : address;
};
