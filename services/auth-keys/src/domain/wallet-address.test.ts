import { describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import type { CatalogueChain, ChainType } from "@payment-links/contracts";
import { readWalletAddress } from "./wallet-address.ts";

const chain = (id: string, chainType: ChainType): CatalogueChain => ({
  id,
  chainType,
  name: id,
  symbol: "X",
  caip2: `test:${id}`,
});
const chains = {
  evm: chain("8453", "EVM"),
  svm: chain("solana", "SVM"),
  tvm: chain("tron", "TVM"),
  bvm: chain("bitcoin", "BVM"),
  bvmTest: chain("bitcoin-testnet", "BVM"),
};
type Family = keyof typeof chains;

const base58check = createBase58check(sha256);
const bytes = (length: number, first = 1): Uint8Array => {
  const filled = new Uint8Array(length).fill(7);
  filled[0] = first;
  return filled;
};
const withVersion = (version: number, length: number): string =>
  base58check.encode(bytes(length + 1, version));
const segwit = (coder: typeof bech32, prefix: string, version: number, length: number): string =>
  coder.encode(prefix, [version, ...bech32.toWords(bytes(length))]);

// From EIP-55, Tron's and Solana's own documents, BIP-173 and BIP-350.
const eip55 = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const tron = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const solana = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const segwit0 = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const taproot = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

describe("readWalletAddress", () => {
  const good: [family: Family, why: string, typed: string, read?: string][] = [
    ["evm", "EIP-55", eip55],
    ["evm", "lower case", eip55.toLowerCase(), eip55],
    ["evm", "upper case", `0x${eip55.slice(2).toUpperCase()}`, eip55],
    ["evm", "digits alone", `0x${"1".repeat(40)}`],
    ["svm", "a Solana address", solana],
    ["tvm", "a Tron address", tron],
    ["bvm", "a first Bitcoin address", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
    ["bvm", "a script's address", withVersion(0x05, 20)],
    ["bvm", "witness version 0", segwit0],
    ["bvm", "witness version 0 in capitals", segwit0.toUpperCase(), segwit0],
    ["bvm", "a witness script", segwit(bech32, "bc", 0, 32)],
    ["bvm", "taproot", taproot],
    ["bvmTest", "the test network's", segwit(bech32, "tb", 0, 20)],
    ["bvmTest", "a local network's", segwit(bech32, "bcrt", 0, 20)],
    ["bvmTest", "the test network's old form", withVersion(0x6f, 20)],
  ];
  test.each(good)("%s: takes %s", (family, _why, typed, read = typed) => {
    expect(readWalletAddress(chains[family], typed)).toBe(read);
  });

  const hostile: [family: Family, why: string, typed: string][] = [
    ["evm", "nothing", ""],
    ["evm", "the zero address", `0x${"0".repeat(40)}`],
    ["evm", "one wrong letter's case", eip55.replace("5aA", "5AA")],
    ["evm", "a capital X", eip55.replace("0x", "0X")],
    ["evm", "no 0x", eip55.slice(2)],
    ["evm", "39 digits", eip55.slice(0, -1)],
    ["evm", "41 digits", `${eip55}a`],
    ["evm", "a letter that is no digit", `${eip55.slice(0, -1)}g`],
    ["evm", "a blank behind", `${eip55} `],
    ["evm", "a line end behind", `${eip55}\n`],
    ["evm", "a name", "vitalik.eth"],
    ["evm", "a chain in front", `base:${eip55}`],
    ["evm", "a payment request", `ethereum:${eip55}`],
    ["evm", "32 bytes", `0x${"11".repeat(32)}`],
    ["evm", "full-width digits", `0x${"\uFF11".repeat(40)}`],
    ["evm", "a Tron address", tron],
    ["evm", "a Bitcoin address", segwit0],
    ["evm", "100,000 characters", `0x${"1".repeat(100_000)}`],
    ["svm", "nothing", ""],
    ["svm", "the system program, Solana's zero address", "1".repeat(32)],
    ["svm", "31 bytes", base58.encode(bytes(31))],
    ["svm", "33 bytes", base58.encode(bytes(33))],
    ["svm", "64 bytes, a signature or a secret key", base58.encode(bytes(64))],
    ["svm", "a letter that base58 lacks", `${solana.slice(0, -1)}0`],
    ["svm", "an EVM address", eip55],
    ["svm", "a Tron address", tron],
    ["svm", "100,000 characters", "2".repeat(100_000)],
    ["tvm", "nothing", ""],
    ["tvm", "a wrong checksum", `${tron.slice(0, -1)}u`],
    ["tvm", "two letters swapped", tron.replace("R7", "7R")],
    ["tvm", "lower case", tron.toLowerCase()],
    ["tvm", "the zero address", base58check.encode(Uint8Array.of(0x41, ...new Uint8Array(20)))],
    ["tvm", "another prefix", withVersion(0x42, 20)],
    ["tvm", "19 bytes", withVersion(0x41, 19)],
    ["tvm", "21 bytes", withVersion(0x41, 21)],
    ["tvm", "the hex form", `41${"ab".repeat(20)}`],
    ["tvm", "a Bitcoin address", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
    ["tvm", "a Solana address", solana],
    ["bvm", "nothing", ""],
    ["bvm", "a wrong bech32 checksum", `${segwit0.slice(0, -1)}5`],
    ["bvm", "mixed case", segwit0.replace("bc1q", "bc1Q")],
    ["bvm", "version 0 with the checksum of version 1", segwit(bech32m, "bc", 0, 20)],
    ["bvm", "version 1 with the checksum of version 0", segwit(bech32, "bc", 1, 32)],
    ["bvm", "taproot of 20 bytes", segwit(bech32m, "bc", 1, 20)],
    ["bvm", "version 2, which anybody could spend", segwit(bech32m, "bc", 2, 32)],
    ["bvm", "version 0 of 25 bytes", segwit(bech32, "bc", 0, 25)],
    ["bvm", "a zero program", bech32.encode("bc", [0, ...bech32.toWords(new Uint8Array(20))])],
    ["bvm", "no program", bech32.encode("bc", [0])],
    ["bvm", "nothing but a prefix", bech32.encode("bc", [])],
    ["bvm", "the test network's", segwit(bech32, "tb", 0, 20)],
    ["bvm", "the test network's old form", withVersion(0x6f, 20)],
    ["bvm", "another coin's", segwit(bech32, "ltc", 0, 20)],
    ["bvm", "a zero hash", base58check.encode(new Uint8Array(21))],
    ["bvm", "a private key", withVersion(0x80, 32)],
    ["bvm", "a Tron address", tron],
    ["bvm", "100,000 characters", `bc1${"q".repeat(100_000)}`],
    ["bvmTest", "the main network's", segwit0],
  ];
  test.each(hostile)("%s: refuses %s", (family, _why, typed) => {
    expect(() => readWalletAddress(chains[family], typed)).toThrow("INVALID_WALLET_ADDRESS");
  });

  const checked: [family: Family, form: string, address: string, alphabet: string][] = [
    ["evm", "EIP-55", eip55, "0123456789abcdefABCDEF"],
    ["tvm", "base58check", tron, base58Alphabet],
    ["bvm", "base58check", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", base58Alphabet],
    ["bvm", "bech32", segwit0, bech32Alphabet],
    ["bvm", "bech32m", taproot, bech32Alphabet],
  ];
  test.each(checked)(
    "%s: %s with any one character wrong is refused, wherever it stands",
    (family, _form, address, alphabet) => {
      for (let place = 0; place < address.length; place += 1) {
        for (const character of alphabet) {
          if (character === address[place]) continue;
          const typed = address.slice(0, place) + character + address.slice(place + 1);
          expect(() => readWalletAddress(chains[family], typed)).toThrow("INVALID_WALLET_ADDRESS");
        }
      }
    },
  );
});
