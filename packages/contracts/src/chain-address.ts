import type { ChainType } from "./account.ts";
import type { AddressReading } from "./address-reading.ts";
import { foldBech32, isBitcoinChainId, readBitcoinAddress } from "./bitcoin-address.ts";
import { hasValidEip55, isEvmAddress, toEip55 } from "./evm-address.ts";
import { readSolanaAddress } from "./solana-address.ts";
import { readTronAddress } from "./tron-address.ts";

type Chain = { id: string; chainType: ChainType };

/** Reads an address as a person typed it, into the one form of its chain's family. */
export const readAddress = (chain: Chain, typed: string): AddressReading => {
  switch (chain.chainType) {
    case "EVM":
      return readEvmAddress(typed);
    case "SVM":
      return readSolanaAddress(typed);
    case "TVM":
      return readTronAddress(typed);
    case "BVM":
      if (!isBitcoinChainId(chain.id))
        throw new Error(`chain ${chain.id} is no network of Bitcoin`);
      return readBitcoinAddress(chain.id, typed);
  }
};

/** EIP-55: a mixed-case address carries a checksum in its case. */
const readEvmAddress = (typed: string): AddressReading => {
  if (!isEvmAddress(typed)) return { fault: "malformed" };
  if (!hasValidEip55(typed)) return { fault: "checksum" };
  return /^0x0+$/.test(typed) ? { fault: "unspendable" } : { address: toEip55(typed) };
};

/**
 * Whether two addresses of one chain family are the same. EVM addresses have no case, bech32 may be
 * all in capitals; base58 tells letters apart by their case.
 */
export const isSameAddress = (chainType: ChainType, a: string, b: string): boolean =>
  foldCase(chainType, a) === foldCase(chainType, b);

const foldCase = (chainType: ChainType, address: string): string => {
  if (chainType === "EVM") return address.toLowerCase();
  return chainType === "BVM" ? foldBech32(address) : address;
};
