import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { buildBitcoinUri } from "./bitcoin/payment-uri.ts";
import {
  buildSolanaTransferRequestUrl,
  buildSolanaTransactionRequestUrl,
} from "./solana/payment-uri.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const recipient = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const splToken = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const reference = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB";
const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const amount = "0.000001";

/**
 * Expects that a wallet reads exactly these parts from a URI. Uses the platform's URL parser, as a
 * wallet does. Parameters without a value are left out.
 */
const expectUri = (
  uri: string,
  [scheme, path]: readonly [string, string],
  parameters: readonly (readonly [string, string])[],
): void => {
  expect(uri).toMatch(/^[\x21-\x7e]+$/);
  const url = new URL(uri);
  expect([url.protocol, url.pathname, url.hash]).toEqual([scheme, path, ""]);
  const expected = parameters.filter(([, value]) => value !== "");
  expect([...url.searchParams.entries()]).toEqual(expected);
};

/** Texts from untrusted users, both accepted and rejected ones. */
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "&amount=0",
    "#&reference=x",
    "?amount=1",
    "50% off + more",
    "a b\tc\r\nSet-Cookie: x",
    "\u202Egnp.exe",
    "<script>alert(1)</script>",
    "🦊".repeat(20),
    "%00%0a",
    "\ud800 alone",
    "=;,/:@!$'()*",
    "بائع",
  ),
);
const wellFormed = (text: string): string => text.toWellFormed();
const amounts = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 24n }), fc.nat(18))
  .map(([baseUnits, decimals]) => {
    const digits = String(baseUnits).padStart(decimals + 1, "0");
    const wholeDigits = digits.length - decimals;
    return `${digits.slice(0, wholeDigits)}.${digits.slice(wholeDigits)}`.replace(/\.?0*$/, "");
  });

describe("a Solana Pay transfer request", () => {
  test("has the fields of its specification, in their order", () => {
    const label = "Alice's Shop";
    const message = "Order 7 & 8";
    expect(
      buildSolanaTransferRequestUrl({
        recipient,
        amount,
        splToken,
        reference,
        label,
        message,
        memo: "plink_1",
      }),
    ).toBe(
      `solana:${recipient}?amount=0.000001&spl-token=${splToken}&reference=${reference}` +
        "&label=Alice's%20Shop&message=Order%207%20%26%208&memo=plink_1",
    );
    expect(
      buildSolanaTransferRequestUrl({
        recipient,
        amount: "1000",
        reference,
        label: "",
      }),
    ).toBe(`solana:${recipient}?amount=1000&reference=${reference}`);
  });

  test("delivers any text and amount to the wallet, and nothing else", () => {
    fc.assert(
      fc.property(texts, texts, amounts, (label, message, amount) => {
        const uri = buildSolanaTransferRequestUrl({
          recipient,
          amount,
          splToken,
          reference,
          label,
          message,
        });
        expectUri(
          uri,
          ["solana:", recipient],
          [
            ["amount", amount],
            ["spl-token", splToken],
            ["reference", reference],
            ["label", wellFormed(label)],
            ["message", wellFormed(message)],
          ],
        );
      }),
      getPropertyRunOptions({ soak: 2_000 }),
    );
  });
});

describe("a Solana Pay transaction request", () => {
  test("contains a URL without a query unchanged, and encodes a URL with a query as a whole", () => {
    const url = "https://pay.example/checkout/solana/plink_1";
    expect(buildSolanaTransactionRequestUrl(url)).toBe(`solana:${url}`);
    const encodedUri = buildSolanaTransactionRequestUrl(`${url}?amount=1&x=a%20b`);
    expect(encodedUri).toBe(`solana:${encodeURIComponent(`${url}?amount=1&x=a%20b`)}`);
    expect(decodeURIComponent(encodedUri.slice("solana:".length))).toBe(`${url}?amount=1&x=a%20b`);
  });

  test.each(["http://pay.example/x", "javascript:alert(1)", "pay.example", ""])(
    "accepts only https URLs, never %j",
    (url) => {
      expect(() => buildSolanaTransactionRequestUrl(url)).toThrow("https");
    },
  );
});

describe("a BIP-21 request", () => {
  test("has the amount in bitcoins, then the texts", () => {
    const label = "Alice & Bob";
    expect(buildBitcoinUri({ address, amount, label, message: "100%" })).toBe(
      `bitcoin:${address}?amount=0.000001&label=Alice%20%26%20Bob&message=100%25`,
    );
  });

  test("delivers any text and amount to the wallet, and nothing else", () => {
    fc.assert(
      fc.property(texts, texts, amounts, (label, message, amount) => {
        const uri = buildBitcoinUri({ address, amount, label, message });
        expectUri(
          uri,
          ["bitcoin:", address],
          [
            ["amount", amount],
            ["label", wellFormed(label)],
            ["message", wellFormed(message)],
          ],
        );
      }),
      getPropertyRunOptions({ soak: 2_000 }),
    );
  });
});
