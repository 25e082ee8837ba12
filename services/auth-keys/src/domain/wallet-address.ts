import { sha256 } from "@noble/hashes/sha2.js";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import {
  type CatalogueChain,
  type ChainType,
  hasValidEip55,
  isEvmAddress,
  refuse,
  toEip55,
} from "@payment-links/contracts";

/** Longer than any address of any family; base58 takes time with the square of the length. */
const addressLengthMax = 100;

/**
 * Reads an address as a person typed it, into the one form of its chain family. Throws
 * INVALID_WALLET_ADDRESS for what can only lose money: a wrong checksum, another family's or
 * network's address, the zero address.
 */
export const readWalletAddress = (chain: CatalogueChain, typed: string): string => {
  const address = typed.length <= addressLengthMax ? readByFamily(chain, typed) : undefined;
  if (address === undefined) throw refuse("INVALID_WALLET_ADDRESS");
  return address;
};

const readByFamily = (chain: CatalogueChain, typed: string): string | undefined =>
  readers[chain.chainType](typed, chain.id);

/** EIP-55: a mixed-case address carries a checksum in its case. */
const readEvm = (typed: string): string | undefined => {
  if (!isEvmAddress(typed) || !hasValidEip55(typed)) return undefined;
  return /^0x0+$/.test(typed) ? undefined : toEip55(typed);
};

const svmBytes = 32;

const readSvm = (typed: string): string | undefined => {
  const bytes = decode(() => base58.decode(typed));
  return bytes?.length === svmBytes && !isZero(bytes) ? typed : undefined;
};

const base58check = createBase58check(sha256);
const tvmBytes = 21;
const tvmPrefix = 0x41;

const readTvm = (typed: string): string | undefined => {
  const bytes = decode(() => base58check.decode(typed));
  const isTron = bytes?.length === tvmBytes && bytes[0] === tvmPrefix;
  return isTron && !isZero(bytes.subarray(1)) ? typed : undefined;
};

type BitcoinNetwork = { prefixes: readonly string[]; versions: readonly number[] };

const bitcoinMain: BitcoinNetwork = { prefixes: ["bc"], versions: [0x00, 0x05] };
const bitcoinTest: BitcoinNetwork = { prefixes: ["tb", "bcrt"], versions: [0x6f, 0xc4] };
const hashBytes = 20;

const readBvm = (typed: string, chainId: string): string | undefined => {
  const network = chainId === "bitcoin" ? bitcoinMain : bitcoinTest;
  const bytes = decode(() => base58check.decode(typed));
  if (bytes !== undefined) {
    const [version = -1, ...hash] = bytes;
    const isRight = network.versions.includes(version) && hash.length === hashBytes;
    return isRight && !isZero(hash) ? typed : undefined;
  }
  return readSegwit(typed, network);
};

/**
 * Version 0 is bech32 (BIP-173), version 1 bech32m (BIP-350). Anybody could spend from later
 * versions.
 */
const readSegwit = (typed: string, { prefixes }: BitcoinNetwork): string | undefined => {
  const old = bech32.decodeUnsafe(typed);
  const decoded = old ?? bech32m.decodeUnsafe(typed);
  if (!decoded || !prefixes.includes(decoded.prefix)) return undefined;
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (!program || isZero(program)) return undefined;
  const isWitness0 = old && version === 0 && (program.length === 20 || program.length === 32);
  const isTaproot = !old && version === 1 && program.length === 32;
  return isWitness0 || isTaproot ? typed.toLowerCase() : undefined;
};

const isZero = (bytes: Iterable<number>): boolean => [...bytes].every((byte) => byte === 0);

const decode = (read: () => Uint8Array): Uint8Array | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const readers: Record<ChainType, (typed: string, chainId: string) => string | undefined> = {
  EVM: readEvm,
  SVM: readSvm,
  TVM: readTvm,
  BVM: readBvm,
};
