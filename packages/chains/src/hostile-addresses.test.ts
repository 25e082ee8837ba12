import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import { isAddress as isSolanaAddress } from "@solana/kit";
import { address as bitcoinOracle, initEccLib, networks } from "bitcoinjs-lib";
import * as ecc from "tiny-secp256k1";
import { TronWeb } from "tronweb";
import { isAddress as isViemAddress } from "viem";
import type { ChainType } from "./chain-types.ts";
import { getFamily } from "./families.ts";
import { type ExpectedDifference, findUnexplained, corruptText } from "./testing/hostile-texts.ts";

const { warn } = console;
beforeAll(() => {
  initEccLib(ecc);
  // bitcoinjs logs a warning for each later witness version that it accepts.
  console.warn = () => undefined;
});
afterAll(() => {
  console.warn = warn;
});

const base58check = createBase58check(sha256);
const filled = (length: number, value = 7): Uint8Array => new Uint8Array(length).fill(value);
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/**
 * Valid checksums of texts that are not addresses, with every version and every length, and with
 * another checksum.
 */
const base58checkForms = (version: number, bodies: readonly Uint8Array[]): [string, string][] => [
  ...range(256)
    .filter((otherVersion) => otherVersion !== version)
    .flatMap((otherVersion) =>
      bodies.map((body, index): [string, string] => [
        `version: ${otherVersion}, body ${index}`,
        base58check.encode(Uint8Array.of(otherVersion, ...body)),
      ]),
    ),
  ...range(60)
    .filter((length) => length !== 20)
    .map((length): [string, string] => [
      `bytes: ${length}`,
      base58check.encode(Uint8Array.of(version, ...filled(length))),
    ]),
  ["checksum: of one hash", base58.encode(withSingleSha256(Uint8Array.of(version, ...filled(20))))],
  ["checksum: none", base58.encode(Uint8Array.of(version, ...filled(20)))],
  ["checksum: zero", base58.encode(Uint8Array.of(version, ...filled(20), 0, 0, 0, 0))],
  ["hash: zero", base58check.encode(Uint8Array.of(version, ...filled(20, 0)))],
];
const withSingleSha256 = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.of(...bytes, ...sha256(bytes).subarray(0, 4));

/**
 * Every witness version with lengths around the valid ones, in both encodings and with prefixes of
 * other networks.
 */
const segwitForms = (networkPrefix: string): [string, string][] =>
  [networkPrefix, "bc", "tb", "bcrt", "ltc", "BC", ""].flatMap((prefix) =>
    range(18).flatMap((version) =>
      [1, 2, 19, 20, 21, 31, 32, 33, 40, 41].flatMap((length): [string, string][] =>
        (["bech32", "bech32m"] as const).flatMap((name): [string, string][] => {
          const coder = name === "bech32" ? bech32 : bech32m;
          const body = prefix === "" ? "x" : prefix.toLowerCase();
          const text = coder.encode(body, [version, ...coder.toWords(filled(length))], 200);
          return [
            [
              `witness: ${prefix || "x"} ${version} of ${length} bytes in ${name}`,
              prefix === "BC" ? `BC${text.slice(2)}` : text,
            ],
          ];
        }),
      ),
    ),
  );

const isBitcoinAddress =
  (network: typeof networks.bitcoin) =>
  (text: string): boolean => {
    try {
      bitcoinOracle.toOutputScript(text, network);
      return true;
    } catch {
      return false;
    }
  };

const zeroHash: ExpectedDifference = {
  appliesTo: /^hash: zero$/,
  ours: "refused",
  reason: "No one has the key for 20 zero bytes, so money paid there is lost.",
};
const laterWitnessVersion: ExpectedDifference = {
  appliesTo: /^witness: /,
  ours: "refused",
  reason:
    "Witness versions from 2 on (BIP-141) and version-1 programs that do not have 32 bytes (BIP-341) have no meaning yet, so anyone can spend money paid there. bitcoinjs only warns.",
};

type AddressFamily = {
  name: string;
  chain: { id: string; chainType: ChainType };
  validAddress: string;
  extraTexts: readonly [string, string][];
  isAcceptedByLibrary: (text: string) => boolean;
  differences: readonly ExpectedDifference[];
};

const bitcoin = (
  id: "bitcoin" | "bitcoin-testnet4",
  validAddress: string,
  version: number,
): AddressFamily => {
  const isMainnet = id === "bitcoin";
  const prefix = isMainnet ? "bc" : "tb";
  return {
    name: `Bitcoin, ${id}, ${validAddress}`,
    chain: { id, chainType: "BVM" },
    validAddress,
    extraTexts: [...base58checkForms(version, [filled(20)]), ...segwitForms(prefix)],
    isAcceptedByLibrary: isBitcoinAddress(isMainnet ? networks.bitcoin : networks.testnet),
    differences: [zeroHash, laterWitnessVersion],
  };
};

const addressFamilies: readonly AddressFamily[] = [
  {
    name: "Tron",
    chain: { id: "tron", chainType: "TVM" },
    validAddress: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    extraTexts: base58checkForms(0x41, [filled(20)]),
    isAcceptedByLibrary: (text) => TronWeb.isAddress(text),
    differences: [
      zeroHash,
      {
        appliesTo: /^foreign: an address of Tron in hex$/,
        ours: "refused",
        reason:
          "The hex form has no checksum, and no wallet shows it. A wrong digit would pay someone else.",
      },
    ],
  },
  {
    name: "Solana",
    chain: { id: "solana", chainType: "SVM" },
    validAddress: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    extraTexts: range(70).flatMap((length): [string, string][] => [
      [`bytes: ${length}`, base58.encode(filled(length))],
      [`bytes: ${length} of 0xff`, base58.encode(filled(length, 0xff))],
      [`bytes: ${length} of zero`, "1".repeat(length)],
    ]),
    isAcceptedByLibrary: isSolanaAddress,
    differences: [
      {
        appliesTo: /^bytes: 32 of zero$/,
        ours: "refused",
        reason: "This is the system program. No one can spend from its token account.",
      },
    ],
  },
  bitcoin("bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", 0x00),
  bitcoin("bitcoin", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", 0x00),
  bitcoin("bitcoin", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", 0x00),
  bitcoin("bitcoin", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG", 0x05),
  bitcoin("bitcoin-testnet4", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", 0x6f),
  bitcoin("bitcoin-testnet4", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", 0x6f),
  bitcoin("bitcoin-testnet4", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", 0xc4),
  {
    name: "EVM",
    chain: { id: "8453", chainType: "EVM" },
    validAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    extraTexts: [
      ...range(80).map((digits): [string, string] => [
        `bytes: ${digits} digits`,
        `0x${"a".repeat(digits)}`,
      ]),
      ["bytes: zero", `0x${"0".repeat(40)}`],
      ["bytes: capitals", "0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913"],
    ],
    isAcceptedByLibrary: (text) => isViemAddress(text),
    differences: [
      { ...zeroHash, appliesTo: /^bytes: zero$/ },
      {
        appliesTo: /^(?:case|bytes): capitals$/,
        ours: "taken",
        reason:
          "EIP-55 allows an address in a single case without a checksum, also in upper case. viem accepts only lower case. We show the address in its EIP-55 form for comparison.",
      },
    ],
  },
];

const parseAddress = ({ id, chainType }: { id: string; chainType: ChainType }, input: string) =>
  getFamily(chainType).parseAddress(id, input);

describe("parseAddress agrees with the family's own library on hostile addresses", () => {
  test.each(addressFamilies)(
    "$name",
    ({ chain, validAddress, extraTexts, isAcceptedByLibrary, differences }) => {
      expect(parseAddress(chain, validAddress)).toEqual({ address: validAddress });
      const texts = new Map([...corruptText(validAddress), ...extraTexts]);
      const isAcceptedByUs = (text: string): boolean => "address" in parseAddress(chain, text);
      const report = findUnexplained(texts, differences, {
        ours: isAcceptedByUs,
        theirs: isAcceptedByLibrary,
      });
      expect(report).toMatchObject({ unexplained: [], unusedDifferences: [] });
      expect(report.rejectedCount).toBeGreaterThanOrEqual(200);
    },
  );
});
