import { bytesToHex } from "@noble/hashes/utils.js";
import { Address, OutScript } from "@scure/btc-signer";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "../address-parse-result.ts";

/** The parameters of each Bitcoin network, by the id of its chain in the catalogue. */
export const bitcoinNetworks = {
  bitcoin: { bech32: "bc", pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
  "bitcoin-testnet4": { bech32: "tb", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  "local-bitcoin": { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
} as const;
export type BitcoinChainId = keyof typeof bitcoinNetworks;

/** Returns whether a chain of the catalogue is a supported Bitcoin network. */
export const isBitcoinChainId = (chainId: string): chainId is BitcoinChainId =>
  Object.hasOwn(bitcoinNetworks, chainId);

const chainIds = Object.keys(bitcoinNetworks).filter(isBitcoinChainId);

/** Longer than any address. The limit is needed because base58 decoding takes quadratic time. */
const lengthMax = 90;
const addressPattern =
  /^(?:[1-9A-HJ-NP-Za-km-z]{26,35}|(?:bc|tb|bcrt)1[a-z0-9]{6,87}|(?:BC|TB|BCRT)1[A-Z0-9]{6,87})$/;

/**
 * Parses an address of a Bitcoin network: P2PKH, P2SH, P2WPKH, P2WSH (bech32) or P2TR (bech32m).
 * Returns bech32 addresses in lower case. Rejects unused witness versions, because anyone could
 * spend from them.
 */
export const parseBitcoinAddress = (chainId: BitcoinChainId, input: string): AddressParseResult => {
  if (input.length > lengthMax) return { fault: "malformed" };
  const script = decodeScriptPubKey(chainId, input);
  if (script !== undefined) {
    const isSpendable = !isAllZeroBytes(extractProgram(script));
    return isSpendable ? { address: normalizeBech32(input) } : { fault: "unspendable" };
  }
  if (chainIds.some((otherChainId) => decodeScriptPubKey(otherChainId, input) !== undefined))
    return { fault: "network" };
  return { fault: addressPattern.test(input) ? "checksum" : "malformed" };
};

/**
 * Returns the scriptPubKey of an address in hex. Throws if the address does not belong to that
 * network.
 */
export const toBitcoinScriptPubKey = (chainId: BitcoinChainId, address: string): string => {
  const script = address.length > lengthMax ? undefined : decodeScriptPubKey(chainId, address);
  if (script === undefined) throw new Error("not an address of this Bitcoin network");
  return bytesToHex(script);
};

/**
 * Lowercases an uppercase bech32 address, the form that QR codes use. Returns any other address
 * unchanged.
 */
export const normalizeBech32 = (address: string): string =>
  /^(?:BC|TB|BCRT)1[A-Z0-9]+$/.test(address) ? address.toLowerCase() : address;

const decodeScriptPubKey = (chainId: BitcoinChainId, address: string): Uint8Array | undefined =>
  tryDecode(() => {
    const output = Address(bitcoinNetworks[chainId]).decode(address);
    // Anyone can spend money that is sent to an anchor.
    return output.type === "p2a" ? undefined : OutScript.encode(output);
  });

/** Returns the hash or key between the opcodes of a script of one of the five supported kinds. */
const extractProgram = (script: Uint8Array): Uint8Array => {
  if (script[0] === 0x76) return script.subarray(3, 23);
  return script[0] === 0xa9 ? script.subarray(2, 22) : script.subarray(2);
};
