import { describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import { BIP32Factory } from "bip32";
import { networks } from "bitcoinjs-lib";
import * as ecc from "tiny-secp256k1";
import { parseBitcoinKey } from "./key.ts";
import { computeDescriptorChecksum } from "./descriptor-checksum.ts";
import { type ExpectedDifference, findUnexplained, corruptText } from "../testing/hostile-texts.ts";

const bip32 = BIP32Factory(ecc);
const base58check = createBase58check(sha256);
const hardened = 0x80_00_00_00;
const account = bip32.fromSeed(new Uint8Array(32).fill(7)).derivePath("m/84'/0'/0'");
const xpub = account.neutered().toBase58();
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/**
 * Overwrites some of a key's 78 bytes (BIP-32: version at 0, depth at 4, index at 9, point at 45).
 */
const withBytes = (offset: number, bytes: readonly number[], key = xpub): string => {
  const keyBytes = base58check.decode(key);
  keyBytes.set(bytes, offset);
  return base58check.encode(keyBytes);
};
const withVersion = (hex: string, key = xpub): string =>
  withBytes(0, [...Buffer.from(hex, "hex")], key);

/** Public versions of single-signature keys on the main network (BIP-32, SLIP-132). */
const mainVersions = [0x04_88_b2_1e, 0x04_9d_7c_b2, 0x04_b2_47_46];

const keyForms: readonly [string, string][] = [
  ...range(256).map((depth): [string, string] => [`depth: ${depth}`, withBytes(4, [depth])]),
  ...range(256).map((prefixByte): [string, string] => [
    `point: sign ${prefixByte}`,
    withBytes(45, [prefixByte]),
  ]),
  ...range(256).map((lastByte): [string, string] => [
    `version: last byte ${lastByte}`,
    withVersion(`0488b2${lastByte.toString(16).padStart(2, "0")}`),
  ]),
  ...range(40).map((extraLength): [string, string] => [
    `bytes: ${extraLength + 60}`,
    base58check.encode(new Uint8Array(extraLength + 60).fill(2)),
  ]),
  ...Object.entries({
    yprv: "049d7878",
    zprv: "04b2430c",
    xprv: "0488ade4",
    tprv: "04358394",
    uprv: "044a4e28",
    vprv: "045f18bc",
    Ypub: "0295b43f",
    Zpub: "02aa7ed3",
    Yprv: "0295b005",
    Zprv: "02aa7a99",
    tpub: "043587cf",
    upub: "044a5262",
    vpub: "045f1cf6",
    Litecoin: "019da462",
    Dogecoin: "02facafd",
    zero: "00000000",
    ones: "ffffffff",
  }).map(([name, hex]): [string, string] => [`version: ${name}`, withVersion(hex)]),
  ...["xprv", "yprv", "zprv"].map((name, offset): [string, string] => [
    `private key: ${name}`,
    withVersion(["0488ade4", "049d7878", "04b2430c"][offset] ?? "", account.toBase58()),
  ]),
  ["index: not hardened", withBytes(9, [0, 0, 0, 0])],
  [
    "point: zero",
    withBytes(
      46,
      range(32).map(() => 0),
    ),
  ],
  [
    "point: beyond the field",
    withBytes(
      46,
      range(32).map(() => 0xff),
    ),
  ],
];

/**
 * Returns whether bip32 accepts the text as the public key of an account (BIP-44: the third level,
 * hardened).
 */
const isAccountKey = (text: string): boolean =>
  mainVersions.some((versionNumber) => {
    try {
      const versions = { public: versionNumber, private: 0x04_88_ad_e4 };
      const key = bip32.fromBase58(text, { ...networks.bitcoin, bip32: versions });
      return key.isNeutered() && key.depth === 3 && key.index >= hardened;
    } catch {
      return false;
    }
  });

const isAcceptedByUs = (text: string): boolean => "descriptor" in parseBitcoinKey("bitcoin", text);

describe("parseBitcoinKey agrees with bip32 on hostile extended keys", () => {
  test.each([
    ["xpub", xpub],
    ["ypub", withVersion("049d7cb2")],
    ["zpub", withVersion("04b24746")],
  ])("%s", (_name, validText) => {
    expect(isAcceptedByUs(validText)).toBe(true);
    const texts = new Map([...corruptText(validText), ...keyForms]);
    const report = findUnexplained(texts, [], { ours: isAcceptedByUs, theirs: isAccountKey });
    expect(report).toMatchObject({ unexplained: [], unusedDifferences: [] });
    expect(report.rejectedCount).toBeGreaterThanOrEqual(200);
  });
});

const path = "[d34db33f/84h/0h/0h]";
const invalidKinds = [
  "pk",
  "combo",
  "wsh",
  "sh",
  "addr",
  "raw",
  "rawtr",
  "multi",
  "musig",
  "WPKH",
  "wpkh ",
];
const invalidPaths = [
  "",
  "/*",
  "/0",
  "/0/",
  "/0/*/",
  "/0/**",
  "/0/0/*",
  "/00/*",
  "/+0/*",
  "/-0/*",
  "/0x0/*",
  "/1/*",
  "/2147483648/*",
  "/0h/*",
  "/0'/*",
  "/0/*h",
  "/0/*'",
  "/0/* ",
  "//0/*",
  "/0//*",
  "/<0;1>",
  "/<1;0>/*",
  "/<0;1;2>/*",
  "/<0>/*",
  "/<0,1>/*",
  "/<0;1>/*h",
  "/<0;0>/*",
  "/0/\uFF0A",
];
const invalidOrigins = [
  "[]",
  "[d34db33f]",
  "[d34db33/84h/0h/0h]",
  "[d34db33f0/84h/0h/0h]",
  "[g34db33f/84h/0h/0h]",
  "[d34db33f/84/0h/0h]",
  "[d34db33f/84h/0h/0]",
  "[d34db33f/84h/2h/0h]",
  "[d34db33f/49h/0h/0h]",
  "[d34db33f/84hh/0h/0h]",
  "[d34db33f//84h/0h/0h]",
  "[d34db33f/84h/0h/0h/]",
  "[[d34db33f]]",
  "[d34db33f/84h/0h/0h/0h]",
  "[d34db33f/84h/0h/2147483648h/1h]",
  "[0xd34db33f/84h/0h/0h]",
  `${path}${path}`,
  "[d34db33f/84h/0h/0h",
  "d34db33f/84h/0h/0h]",
  "[d34db33f /84h/0h/0h]",
];
const withChecksum = (body: string): string => `${body}#${computeDescriptorChecksum(body)}`;
/** Each descriptor has a valid checksum, so only its content can cause the rejection. */
const descriptorForms: readonly [string, string][] = [
  ...invalidKinds.map((kind): [string, string] => [`kind: ${kind}`, `${kind}(${xpub}/0/*)`]),
  ...invalidPaths.map((pathSuffix): [string, string] => [
    `path: ${pathSuffix}`,
    `wpkh(${path}${xpub}${pathSuffix})`,
  ]),
  ...invalidOrigins.map((origin): [string, string] => [
    `origin: ${origin}`,
    `wpkh(${origin}${xpub}/0/*)`,
  ]),
  ...keyForms.map(([name, key]): [string, string] => [`key of ${name}`, `wpkh(${key}/0/*)`]),
].map(([name, body]) => [name, withChecksum(body)]);

/**
 * No available library parses descriptors. Every text that is not in one of these rows must be
 * rejected.
 */
const expectedDescriptorDifferences: readonly ExpectedDifference[] = [
  {
    appliesTo: /^length: without the last 9$/,
    ours: "taken",
    reason: "The checksum is optional (BIP-380), and many wallets omit it.",
  },
  {
    appliesTo: /^key of (?:depth: 3|point: sign [23]|version: last byte 30)$/,
    ours: "taken",
    reason:
      "These are the account's own bytes, or those of the other point with the same x. bip32 accepts them.",
  },
];

describe("hostile descriptors", () => {
  test("are rejected for every kind of fault", () => {
    const validText = withChecksum(`wpkh(${path}${xpub}/0/*)`);
    expect(isAcceptedByUs(validText)).toBe(true);
    const texts = new Map([
      ...corruptText(validText),
      ...descriptorForms,
      ["length: without the last 9", validText.slice(0, -9)] as const,
    ]);
    const report = findUnexplained(texts, expectedDescriptorDifferences, {
      ours: isAcceptedByUs,
      theirs: () => false,
    });
    expect(report).toMatchObject({ unexplained: [], unusedDifferences: [] });
    expect(report.rejectedCount).toBeGreaterThanOrEqual(200);
  });
});
