import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { bitcoinUri } from "./bitcoin-uri.ts";
import { Decimal } from "./money.ts";
import { solanaPayUrl, solanaRequestUrl } from "./solana-pay-url.ts";
import { propertyRuns } from "./testing/property-runs.ts";

const recipient = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const splToken = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const reference = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB";
const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const amount = new Decimal("0.000001");

/** What a wallet reads: the platform's own parser of URLs. */
const parse = (uri: string) => {
  const url = new URL(uri);
  const entries = [...url.searchParams.entries()];
  return { scheme: url.protocol, path: url.pathname, hash: url.hash, entries };
};

/** A stranger's text, as the product lets it in and as it does not. */
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
const plain = (text: string): string => text.toWellFormed();
const amounts = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 24n }), fc.nat(18))
  .map(([units, places]) => new Decimal(units.toString()).div(new Decimal(10).pow(places)));

describe("a transfer request of Solana Pay", () => {
  test("has the fields of its specification, in their order", () => {
    const label = "Alice's Shop";
    const message = "Order 7 & 8";
    expect(
      solanaPayUrl({ recipient, amount, splToken, reference, label, message, memo: "plink_1" }),
    ).toBe(
      `solana:${recipient}?amount=0.000001&spl-token=${splToken}&reference=${reference}` +
        "&label=Alice's%20Shop&message=Order%207%20%26%208&memo=plink_1",
    );
    expect(solanaPayUrl({ recipient, amount: new Decimal("1e3"), reference, label: "" })).toBe(
      `solana:${recipient}?amount=1000&reference=${reference}`,
    );
  });

  test("carries any text and amount through to the wallet, and nothing besides", () => {
    fc.assert(
      fc.property(texts, texts, amounts, (label, message, amount) => {
        const uri = solanaPayUrl({ recipient, amount, splToken, reference, label, message });
        expect(uri).toMatch(/^[\x21-\x7e]+$/);
        const { scheme, path, hash, entries } = parse(uri);
        expect([scheme, path, hash]).toEqual(["solana:", recipient, ""]);
        const expected = [
          ["amount", amount.toFixed()],
          ["spl-token", splToken],
          ["reference", reference],
          ["label", plain(label)],
          ["message", plain(message)],
        ].filter(([, value]) => value !== "");
        expect(entries).toEqual(expected);
      }),
      propertyRuns({ soak: 2_000 }),
    );
  });
});

describe("a transaction request of Solana Pay", () => {
  test("stands as it is without a query, and encoded whole with one", () => {
    const url = "https://pay.example/checkout/solana/plink_1";
    expect(solanaRequestUrl(url)).toBe(`solana:${url}`);
    const encoded = solanaRequestUrl(`${url}?amount=1&x=a%20b`);
    expect(encoded).toBe(`solana:${encodeURIComponent(`${url}?amount=1&x=a%20b`)}`);
    expect(decodeURIComponent(encoded.slice("solana:".length))).toBe(`${url}?amount=1&x=a%20b`);
  });

  test.each(["http://pay.example/x", "javascript:alert(1)", "pay.example", ""])(
    "goes to https alone, never to %j",
    (url) => {
      expect(() => solanaRequestUrl(url)).toThrow("https");
    },
  );
});

describe("a request of BIP-21", () => {
  test("has amount in bitcoins, then the texts", () => {
    const label = "Alice & Bob";
    expect(bitcoinUri({ address, amount, label, message: "100%" })).toBe(
      `bitcoin:${address}?amount=0.000001&label=Alice%20%26%20Bob&message=100%25`,
    );
  });

  test("carries any text and amount through to the wallet, and nothing besides", () => {
    fc.assert(
      fc.property(texts, texts, amounts, (label, message, amount) => {
        const uri = bitcoinUri({ address, amount, label, message });
        expect(uri).toMatch(/^[\x21-\x7e]+$/);
        const { scheme, path, hash, entries } = parse(uri);
        expect([scheme, path, hash]).toEqual(["bitcoin:", address, ""]);
        const expected = [
          ["amount", amount.toFixed()],
          ["label", plain(label)],
          ["message", plain(message)],
        ].filter(([, value]) => value !== "");
        expect(entries).toEqual(expected);
      }),
      propertyRuns({ soak: 2_000 }),
    );
  });
});
