import { beforeAll, describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import { BIP32Factory } from "bip32";
import { initEccLib, networks, payments } from "bitcoinjs-lib";
import fc from "fast-check";
import * as ecc from "tiny-secp256k1";
import type { BitcoinChainId } from "./address.ts";
import {
  deriveBitcoinAddresses,
  computeBitcoinKeyId,
  isBitcoinDescriptor,
  parseBitcoinKey,
} from "./key.ts";
import { computeDescriptorChecksum } from "./descriptor-checksum.ts";
import { misspellings } from "../testing/misspellings.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

beforeAll(() => initEccLib(ecc));

const bip32 = BIP32Factory(ecc);
const base58check = createBase58check(sha256);
const networksByChainId = {
  bitcoin: networks.bitcoin,
  "bitcoin-testnet4": networks.testnet,
  "local-bitcoin": networks.regtest,
};
type ReferenceKey = ReturnType<typeof bip32.fromSeed>;

const scriptKinds = {
  pkh: {
    purpose: 44,
    formatDescriptor: (key: string) => `pkh(${key}/0/*)`,
    createPayment: (pubkey: Uint8Array, network: typeof networks.bitcoin) =>
      payments.p2pkh({ pubkey, network }),
  },
  "sh(wpkh": {
    purpose: 49,
    formatDescriptor: (key: string) => `sh(wpkh(${key}/0/*))`,
    createPayment: (pubkey: Uint8Array, network: typeof networks.bitcoin) =>
      payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }),
  },
  wpkh: {
    purpose: 84,
    formatDescriptor: (key: string) => `wpkh(${key}/0/*)`,
    createPayment: (pubkey: Uint8Array, network: typeof networks.bitcoin) =>
      payments.p2wpkh({ pubkey, network }),
  },
  tr: {
    purpose: 86,
    formatDescriptor: (key: string) => `tr(${key}/0/*)`,
    createPayment: (pubkey: Uint8Array, network: typeof networks.bitcoin) =>
      payments.p2tr({ internalPubkey: pubkey.subarray(1), network }),
  },
};
type ScriptKind = keyof typeof scriptKinds;
const scriptKindNames = Object.keys(scriptKinds) as ScriptKind[];
const chainIds = Object.keys(networksByChainId) as BitcoinChainId[];

const deriveAccount = (seed: Uint8Array, chainId: BitcoinChainId, kind: ScriptKind): ReferenceKey =>
  bip32
    .fromSeed(seed, networksByChainId[chainId])
    .derivePath(`m/${scriptKinds[kind].purpose}'/${chainId === "bitcoin" ? 0 : 1}'/0'`);

const withVersion = (key: string, version: string): string =>
  base58check.encode(
    Uint8Array.of(...Buffer.from(version, "hex"), ...base58check.decode(key).subarray(4)),
  );

const seed = new Uint8Array(32).fill(7);
const account = deriveAccount(seed, "bitcoin", "wpkh");
const xpub = account.neutered().toBase58();
const zpub = withVersion(xpub, "04b24746");
const testAccount = deriveAccount(seed, "bitcoin-testnet4", "wpkh");
const tpub = testAccount.neutered().toBase58();

describe("deriveBitcoinAddresses", () => {
  test("matches bip32 and bitcoinjs for random accounts of four kinds and three networks", () => {
    const randomAccount = fc.record({
      seed: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      kind: fc.constantFrom(...scriptKindNames),
      chainId: fc.constantFrom(...chainIds),
      from: fc.nat(0x7f_ff_ff_00),
    });
    fc.assert(
      fc.property(randomAccount, ({ seed, kind, chainId, from: startIndex }) => {
        const referenceKey = deriveAccount(seed, chainId, kind).neutered();
        const result = parseBitcoinKey(
          chainId,
          scriptKinds[kind].formatDescriptor(referenceKey.toBase58()),
        );
        if (!("descriptor" in result)) throw new Error(`rejected: ${result.fault}`);
        const receivingChain = referenceKey.derive(0);
        const expected = Array.from(
          { length: 40 },
          (_, offset) =>
            scriptKinds[kind].createPayment(
              receivingChain.derive(startIndex + offset).publicKey,
              networksByChainId[chainId],
            ).address,
        );
        expect(
          deriveBitcoinAddresses(chainId, result.descriptor, { startIndex, count: 40 }),
        ).toEqual(expected);
      }),
      getPropertyRunOptions({ commit: 10, soak: 250 }),
    );
  });

  // The test vectors of BIP-84 and BIP-86 for the mnemonic "abandon … about".
  test("matches the examples of the BIPs", () => {
    const bip84 =
      "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
    const result = parseBitcoinKey("bitcoin", bip84);
    if (!("descriptor" in result)) throw new Error("rejected");
    expect(
      deriveBitcoinAddresses("bitcoin", result.descriptor, { startIndex: 0, count: 2 }),
    ).toEqual([
      "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
      "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
    ]);
    const bip86 =
      "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ";
    expect(
      deriveBitcoinAddresses("bitcoin", `tr(${bip86}/0/*)`, { startIndex: 0, count: 1 }),
    ).toEqual(["bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"]);
  });
});

describe("parsing one key", () => {
  const path = "[d34db33f/84h/0h/0h]";
  const fullDescriptor = `wpkh(${path}${xpub}/<0;1>/*)`;
  test.each([
    zpub,
    `wpkh(${xpub}/0/*)`,
    `wpkh(${path}${xpub}/0/*)`,
    `wpkh([D34DB33F/84'/0'/0']${xpub}/0/*)`,
    fullDescriptor,
    `${fullDescriptor}#${computeDescriptorChecksum(fullDescriptor)}`,
  ])("yields the same descriptor and key id for every notation: %s", (input) => {
    const descriptor = `wpkh(${xpub}/0/*)`;
    expect(parseBitcoinKey("bitcoin", input)).toEqual({ descriptor });
    expect(isBitcoinDescriptor(descriptor)).toBe(true);
    expect(computeBitcoinKeyId("bitcoin", descriptor)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("ignores the parent fingerprint in the key id, but not the script kind or the network", () => {
    const bytes = base58check.decode(xpub);
    bytes.set([1, 2, 3, 4], 5);
    const forged = base58check.encode(bytes);
    const keyId = computeBitcoinKeyId("bitcoin", `wpkh(${xpub}/0/*)`);
    expect(computeBitcoinKeyId("bitcoin", `wpkh(${forged}/0/*)`)).toBe(keyId);
    const otherKeyIds = [
      computeBitcoinKeyId("bitcoin", `tr(${xpub}/0/*)`),
      computeBitcoinKeyId("bitcoin-testnet4", `wpkh(${tpub}/0/*)`),
      computeBitcoinKeyId("local-bitcoin", `wpkh(${tpub}/0/*)`),
    ];
    expect(new Set([keyId, ...otherKeyIds]).size).toBe(4);
  });

  test("derives the script kind from the key's prefix (SLIP-132)", () => {
    const parseKey = (chainId: BitcoinChainId, key: string) => parseBitcoinKey(chainId, key);
    expect(parseKey("bitcoin", xpub)).toEqual({ descriptor: `pkh(${xpub}/0/*)` });
    expect(parseKey("bitcoin", withVersion(xpub, "049d7cb2"))).toEqual({
      descriptor: `sh(wpkh(${xpub}/0/*))`,
    });
    for (const chainId of ["bitcoin-testnet4", "local-bitcoin"] as const) {
      expect(parseKey(chainId, tpub)).toEqual({ descriptor: `pkh(${tpub}/0/*)` });
      expect(parseKey(chainId, withVersion(tpub, "044a5262"))).toEqual({
        descriptor: `sh(wpkh(${tpub}/0/*))`,
      });
      expect(parseKey(chainId, withVersion(tpub, "045f1cf6"))).toEqual({
        descriptor: `wpkh(${tpub}/0/*)`,
      });
    }
  });
});

describe("parsing anything but an account's public key", () => {
  const validDescriptor = `wpkh(${xpub}/0/*)`;
  const root = bip32.fromSeed(seed);
  const deriveAt = (path: string): string => root.derivePath(path).neutered().toBase58();
  test.each([
    ["nothing", "", "malformed"],
    ["an address", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "malformed"],
    ["a key of a test network", tpub, "network"],
    ["a descriptor of a test network", `wpkh(${tpub}/0/*)`, "network"],
    ["an origin of another coin", `wpkh([d34db33f/84h/1h/0h]${xpub}/0/*)`, "network"],
    ["the root key of a wallet", root.neutered().toBase58(), "depth"],
    ["the key of a purpose", deriveAt("m/84'"), "depth"],
    ["the key of the receiving addresses", deriveAt("m/84'/0'/0'/0"), "depth"],
    ["an account that is not hardened", deriveAt("m/84'/0'/0"), "depth"],
    ["an origin with two steps", `wpkh([d34db33f/84h/0h]${xpub}/0/*)`, "depth"],
    ["an origin that is not hardened", `wpkh([d34db33f/84/0/0]${xpub}/0/*)`, "depth"],
    ["an origin of another script kind", `wpkh([d34db33f/86h/0h/0h]${xpub}/0/*)`, "kind"],
    ["an origin without a fingerprint", `wpkh([84h/0h/0h]${xpub}/0/*)`, "malformed"],
    ["one key of a multisig wallet", withVersion(xpub, "02aa7ed3"), "kind"],
    ["a zpub in a descriptor", `wpkh(${zpub}/0/*)`, "kind"],
    ["a multisig descriptor", `wsh(sortedmulti(2,${xpub}/0/*,${xpub}/0/*))`, "kind"],
    ["a single address of the key", `wpkh(${xpub}/0/5)`, "path"],
    ["the key's change addresses", `wpkh(${xpub}/1/*)`, "path"],
    ["addresses below no account", `wpkh(${xpub}/*)`, "path"],
    ["no path", `wpkh(${xpub})`, "path"],
    ["hardened addresses", `wpkh(${xpub}/0/*h)`, "path"],
    ["a wrong checksum", `${validDescriptor}#qqqqqqqq`, "checksum"],
    ["an empty checksum", `${validDescriptor}#`, "checksum"],
    [
      "two checksums",
      `${validDescriptor}#${computeDescriptorChecksum(validDescriptor)}#`,
      "malformed",
    ],
    [
      "one wrong letter",
      `${xpub.slice(0, 50)}${xpub[50] === "a" ? "b" : "a"}${xpub.slice(51)}`,
      "checksum",
    ],
    ["a key of another coin", withVersion(xpub, "02facafd"), "malformed"],
    ["a missing parenthesis", `sh(wpkh(${xpub}/0/*)`, "malformed"],
    ["an extra parenthesis", `wpkh(${xpub}/0/*))`, "malformed"],
    ["a leading space", ` ${zpub}`, "malformed"],
    ["a zero-width space inside", `${zpub.slice(0, 9)}\u200B${zpub.slice(9)}`, "malformed"],
    ["a million characters", "z".repeat(1_000_000), "malformed"],
  ])("rejects %s", (_name, input, fault) => {
    expect(parseBitcoinKey("bitcoin", input)).toEqual({ fault });
  });

  test("rejects a key whose point is not on the curve", () => {
    const bytes = base58check.decode(zpub);
    bytes.fill(0xff, 46);
    expect(parseBitcoinKey("bitcoin", base58check.encode(bytes))).toEqual({ fault: "malformed" });
  });

  test("rejects any misspelled key", () => {
    fc.assert(
      fc.property(
        misspellings(
          fc.constantFrom(
            zpub,
            xpub,
            `${validDescriptor}#${computeDescriptorChecksum(validDescriptor)}`,
          ),
        ),
        (input) => {
          const isValid = [
            zpub,
            xpub,
            validDescriptor,
            `${validDescriptor}#${computeDescriptorChecksum(validDescriptor)}`,
          ].includes(input);
          expect("descriptor" in parseBitcoinKey("bitcoin", input)).toBe(isValid);
        },
      ),
      getPropertyRunOptions({ soak: 2_000 }),
    );
  });
});

describe("computeDescriptorChecksum", () => {
  test("matches the checksum of BIP-380", () => {
    expect(computeDescriptorChecksum("raw(deadbeef)")).toBe("89f8spxm");
    expect(computeDescriptorChecksum("raw(dëadbeef)")).toBeUndefined();
  });
});
