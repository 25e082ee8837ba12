import { describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, createBase58check } from "@scure/base";
import { WIF } from "@scure/btc-signer";
import { BIP32Factory } from "bip32";
import fc from "fast-check";
import * as ecc from "tiny-secp256k1";
import { parseBitcoinKey } from "./bitcoin/key.ts";
import { mayBePrivateKey } from "./private-key.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const base58check = createBase58check(sha256);
const root = BIP32Factory(ecc).fromSeed(new Uint8Array(32).fill(7));
const account = root.derivePath("m/84'/0'/0'");
const xprv = account.toBase58();
const xpub = account.neutered().toBase58();
const withVersion = (version: string): string =>
  base58check.encode(
    Uint8Array.of(...Buffer.from(version, "hex"), ...base58check.decode(xprv).subarray(4)),
  );
const privateKey = new Uint8Array(32).fill(9);
const wif = WIF().encode(privateKey);
const testWif = WIF({ bech32: "tb", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef }).encode(
  privateKey,
);
const uncompressedWif = base58check.encode(Uint8Array.of(0x80, ...privateKey));
const recoveryPhrase =
  "legal winner thank year wave sausage worth useful legal winner thank yellow";

const privateKeyTexts: [string, string][] = [
  ["xprv", xprv],
  ["yprv", withVersion("049d7878")],
  ["zprv", withVersion("04b2430c")],
  ["tprv", withVersion("04358394")],
  ["uprv", withVersion("044a4e28")],
  ["vprv", withVersion("045f18bc")],
  ["an xprv with a letter wrong", `${xprv.slice(0, -1)}1`],
  ["an xprv cut in half", xprv.slice(0, 60)],
  ["an xprv after a blank", `  ${xprv}\n`],
  ["an xprv with a zero-width space", `${xprv.slice(0, 2)}\u200B${xprv.slice(2)}`],
  ["an xprv in two lines", `${xprv.slice(0, 40)}\n${xprv.slice(40)}`],
  ["an xprv in full-width letters", xprv.replace("xprv", "\uFF58\uFF50\uFF52\uFF56")],
  ["a descriptor", `wpkh(${xprv}/0/*)`],
  ["a descriptor with origin", `wpkh([d34db33f/84h/0h/0h]${xprv}/0/*)#abcdefgh`],
  ["a descriptor of a WIF", `wpkh(${wif})`],
  ["WIF", wif],
  ["WIF of a test network", testWif],
  ["WIF, uncompressed", uncompressedWif],
  ["WIF with a letter wrong", `${wif.slice(0, -1)}1`],
  ["32 bytes in hex", "0b".repeat(32)],
  ["32 bytes in hex with 0x", `0x${"AB".repeat(32)}`],
  ["64 bytes of Solana", base58.encode(new Uint8Array(64).fill(7))],
  ["64 numbers of Solana", JSON.stringify([...new Uint8Array(64).fill(201)])],
  ["12 words", recoveryPhrase],
  ["24 words", `${recoveryPhrase} ${recoveryPhrase}`],
  ["12 words in capitals", recoveryPhrase.toUpperCase()],
  [
    "12 words in lines with numbers",
    recoveryPhrase
      .split(" ")
      .map((word, index) => `${index + 1}. ${word}`)
      .join("\n"),
  ],
  ["12 words with commas", recoveryPhrase.replaceAll(" ", ", ")],
  ["12 words of Japanese", Array.from({ length: 12 }, () => "あいこくしん").join("\u3000")],
];

describe("mayBePrivateKey", () => {
  test.each(privateKeyTexts)("detects %s, and no error repeats it", (_name, text) => {
    expect(mayBePrivateKey(text)).toBe(true);
    expect(parseBitcoinKey("bitcoin", text)).toEqual({ fault: "private_key" });
  });

  test("does not flag random public keys and addresses", () => {
    const bytes = fc.uint8Array({ minLength: 74, maxLength: 74 });
    fc.assert(
      fc.property(bytes, (randomBytes) => {
        const extendedPublicKey = base58check.encode(
          Uint8Array.of(0x04, 0x88, 0xb2, 0x1e, ...randomBytes),
        );
        const tron = base58check.encode(Uint8Array.of(0x41, ...randomBytes.subarray(0, 20)));
        const solana = base58.encode(randomBytes.subarray(0, 32));
        for (const text of [extendedPublicKey, `wpkh(${extendedPublicKey}/0/*)`, tron, solana]) {
          expect([text, mayBePrivateKey(text)]).toEqual([text, false]);
        }
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test.each([
    xpub,
    `wpkh([d34db33f/84h/0h/0h]${xpub}/0/*)`,
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
    "vitalik.eth",
    "",
    "legal winner thank year wave sausage worth useful legal winner thank",
    "a".repeat(1_000_000),
    "a ".repeat(1_000_000),
  ])("does not flag public texts", (text) => {
    expect(mayBePrivateKey(text)).toBe(false);
  });
});
