import { describe, expect, test } from "@jest/globals";
import { assertIsAddress } from "@solana/kit";
import { decode as decodeBip21, encode as encodeBip21 } from "bip21";
import {
  buildBitcoinUri,
  buildSolanaTransactionRequestUrl,
  buildSolanaTransferRequestUrl,
} from "@payment-links/chains";
import {
  type ExpectedDifference,
  type HostileTexts,
  findUnexplained,
  corruptText,
} from "@payment-links/chains/testing/hostile-texts";
import { Decimal, fitsDecimals, formatAmount, parseDecimal } from "./money.ts";

// No page contains an EIP-681 URI, because such a URI cannot include a reference. The QR code of an
// EVM link contains its page's URL.

const recipient = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const splToken = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const reference = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB";
const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const validAmount = "20.5";

const integerParts = ["0", "1", "20", "007", "1000", "21000000", "1".repeat(78), "9".repeat(400)];
const fractions = ["", ".", ".0", ".5", ".50", ".00000001", ".000000001", ".000000000000000000001"];
const exponents = [
  "",
  "e",
  "e0",
  "e3",
  "E3",
  "e+3",
  "e-3",
  "e-30",
  "e1000000",
  "e99999999999",
  "e1.5",
];
const signs = ["", "+", "-", "--", "+-", "\u2212", "\uFF0B"];

/** Amounts in unusual or invalid notations. */
const amounts: HostileTexts = new Map([
  ...corruptText(validAmount),
  ...signs.flatMap((sign) =>
    integerParts.flatMap((integerPart) =>
      fractions.flatMap((fraction) =>
        exponents.map((exponent): [string, string] => {
          const text = sign + integerPart + fraction + exponent;
          return [`number: ${text}`, text];
        }),
      ),
    ),
  ),
  ...signs.flatMap((sign) =>
    [".5", ".", "", "e3", ".e3", "Infinity", "inf", "NaN", "sNaN1"].map(
      (unsignedText): [string, string] => [`number: ${sign}${unsignedText}`, sign + unsignedText],
    ),
  ),
  ...[
    "0x10",
    "0b1",
    "0o7",
    "1n",
    "1_000",
    "1,000",
    "1.000,50",
    "1 000",
    "1/2",
    "50%",
    "½",
    "²",
    "１",
    "٣",
    "१",
    "1.2.3",
    "1e1e1",
    "true",
    "[1]",
    "{}",
    "$1",
    "€1",
    "1 BTC",
    "₿1",
  ].map((text): [string, string] => [`notation: ${text}`, text]),
]);

/** Texts that attackers put into a link. The wallet must receive exactly the given text. */
const texts: HostileTexts = new Map([
  ...corruptText("Alice's Shop & Café #7"),
  ...corruptText("amount=0&reference=x"),
]);

/**
 * Parses the amount of a link as a user entered it. Returns undefined if a token with this number
 * of decimals cannot pay it.
 */
const parseAmount = (input: string, decimals: number): Decimal | undefined => {
  const amount = parseDecimal(input);
  if (typeof amount === "string" || !amount.isPositive() || amount.isZero()) return undefined;
  return fitsDecimals(amount, decimals) ? amount : undefined;
};

const tooManyDecimals = (decimals: number): ExpectedDifference => ({
  appliesTo: (text) => {
    const amount = parseDecimal(text);
    return typeof amount !== "string" && !fitsDecimals(amount, decimals);
  },
  ours: "refused",
  reason:
    "The token has no smaller unit. A wallet would round the amount and not pay the link exactly.",
});
const tooManyDigits: ExpectedDifference = {
  appliesTo: (text) => parseDecimal(text) === "decimal_max_digits",
  ours: "refused",
  reason: "The amount exceeds a uint256 (rule API-14).",
};

describe("a BIP-21 request", () => {
  const expectedDifferences: readonly ExpectedDifference[] = [
    tooManyDecimals(8),
    tooManyDigits,
    {
      appliesTo: /^(?:notation: 0[xbo]|foreign: an address of EVM$)/,
      ours: "refused",
      reason: "JavaScript's Number accepts hex, octal and binary. An amount is decimal (BIP-21).",
    },
  ];
  const isAcceptedByLibrary = (amount: string): boolean => {
    try {
      // The library's types require a number, but a page has a text.
      encodeBip21(address, { amount: amount as never });
      return Number(amount) > 0;
    } catch {
      return false;
    }
  };

  test("has an amount whenever bitcoinjs' library accepts it, apart from the listed differences", () => {
    const isAcceptedByUs = (input: string): boolean => parseAmount(input, 8) !== undefined;
    const report = findUnexplained(amounts, expectedDifferences, {
      ours: isAcceptedByUs,
      theirs: isAcceptedByLibrary,
    });
    expect(report).toMatchObject({ unexplained: [], unusedDifferences: [] });
    expect(report.rejectedCount).toBeGreaterThanOrEqual(200);
  });

  test("delivers every accepted hostile amount and every hostile text unchanged to that library", () => {
    for (const input of amounts.values()) {
      const amount = parseAmount(input, 8);
      if (amount === undefined) continue;
      const uri = buildBitcoinUri({ address, amount: formatAmount(amount) });
      expect(uri).toMatch(/\?amount=(?:0|[1-9]\d*)(?:\.\d{0,7}[1-9])?$/);
      expect(decodeBip21(uri)).toEqual({ address, options: { amount: amount.toNumber() } });
    }
    expect(new Set(texts.values()).size).toBeGreaterThanOrEqual(300);
    for (const label of texts.values()) {
      const uri = buildBitcoinUri({ address, amount: "0.5", label, message: label });
      const expectedTexts =
        label === "" ? {} : { label: label.toWellFormed(), message: label.toWellFormed() };
      expect(decodeBip21(uri)).toEqual({ address, options: { amount: 0.5, ...expectedTexts } });
    }
  });
});

/**
 * Parses a transfer request according to the Solana Pay specification, with keys that @solana/kit
 * accepts and an amount without sign and exponent. Solana Pay's own library needs a different major
 * version of that kit.
 */
const parseTransferRequest = (uri: string) => {
  const url = new URL(uri);
  const parsePublicKey = (text: string | null): string => {
    assertIsAddress(text ?? "");
    return text ?? "";
  };
  const amount = url.searchParams.get("amount") ?? "";
  if (!/^\d+(?:\.\d+)?$/.test(amount)) throw new Error("not an amount");
  return {
    recipient: parsePublicKey(url.pathname),
    amount,
    splToken: parsePublicKey(url.searchParams.get("spl-token")),
    references: url.searchParams.getAll("reference").map(parsePublicKey),
    label: url.searchParams.get("label") ?? "",
    memo: url.searchParams.get("memo") ?? "",
    parameterNames: [...url.searchParams.keys()],
  };
};

describe("a Solana Pay transfer request", () => {
  const decimals = 6;
  const expectedDifferences: readonly ExpectedDifference[] = [
    tooManyDecimals(decimals),
    tooManyDigits,
    {
      appliesTo: (text) => parseAmount(text, decimals) !== undefined,
      ours: "taken",
      reason:
        "We accept a sign, an exponent, surrounding whitespace and a point at either end when a link is created, but the URI contains a plain decimal without them.",
    },
    {
      appliesTo: /^number: 0+\.?0*$/,
      ours: "refused",
      reason: "Solana Pay allows an amount of 0. Here a payment of 0 is not a payment.",
    },
  ];
  const request = { recipient, splToken, reference };
  const isAcceptedByLibrary = (amount: string): boolean => {
    try {
      const query = `amount=${encodeURIComponent(amount)}&spl-token=${splToken}`;
      return parseTransferRequest(`solana:${recipient}?${query}`).amount === amount;
    } catch {
      return false;
    }
  };

  test("has an amount whenever the specification accepts it, apart from the listed differences", () => {
    const isAcceptedByUs = (input: string): boolean => parseAmount(input, decimals) !== undefined;
    const report = findUnexplained(amounts, expectedDifferences, {
      ours: isAcceptedByUs,
      theirs: isAcceptedByLibrary,
    });
    expect(report).toMatchObject({ unexplained: [], unusedDifferences: [] });
    expect(report.rejectedCount).toBeGreaterThanOrEqual(200);
  });

  test("delivers every accepted hostile amount and every hostile text unchanged", () => {
    for (const input of amounts.values()) {
      const amount = parseAmount(input, decimals);
      if (amount === undefined) continue;
      const parsedRequest = parseTransferRequest(
        buildSolanaTransferRequestUrl({ ...request, amount: formatAmount(amount) }),
      );
      expect(parsedRequest).toMatchObject({ recipient, splToken, references: [reference] });
      expect(new Decimal(parsedRequest.amount).eq(amount)).toBe(true);
    }
    for (const label of texts.values()) {
      const uri = buildSolanaTransferRequestUrl({
        ...request,
        amount: "0.5",
        label,
        memo: label,
      });
      const expectedTexts = label.toWellFormed();
      const parsedRequest = {
        amount: "0.5",
        recipient,
        splToken,
        references: [reference],
        label: expectedTexts,
        memo: expectedTexts,
      };
      const expectedNames = [
        "amount",
        "spl-token",
        "reference",
        ...(expectedTexts === "" ? [] : ["label", "memo"]),
      ];
      expect(parseTransferRequest(uri)).toEqual({
        ...parsedRequest,
        parameterNames: expectedNames,
      });
    }
  });
});

describe("a Solana Pay transaction request", () => {
  /** A path that is not a key is the URL to request. If it is encoded, it is decoded as a whole. */
  const parseRequestUrl = (uri: string): URL => {
    const path = uri.slice("solana:".length);
    const requestUrl = new URL(
      /[:%]/.test(path) && !path.includes(":") ? decodeURIComponent(path) : path,
    );
    if (requestUrl.protocol !== "https:") throw new Error("not https");
    return requestUrl;
  };

  test("requests exactly the given https URL or is rejected, for hundreds of hostile URLs", () => {
    const hostileUrls = new Set([
      ...corruptText("https://pay.example/checkout/solana/plink_1").values(),
      ...corruptText("https://pay.example/x?amount=1&y=%20#z").values(),
      ...[
        "http:",
        "HTTPS:",
        "ws:",
        "file:",
        "data:",
        "javascript:",
        "blob:",
        "ftp:",
        "solana:",
      ].map((scheme) => `${scheme}//pay.example/x`),
    ]);
    let rejectedCount = 0;
    for (const input of hostileUrls) {
      const url = URL.parse(input);
      if (url?.protocol !== "https:") {
        rejectedCount += 1;
        expect(() => buildSolanaTransactionRequestUrl(input)).toThrow("https");
        continue;
      }
      const uri = buildSolanaTransactionRequestUrl(input);
      expect(uri).toMatch(/^solana:[\x21-\x7e]+$/);
      expect(parseRequestUrl(uri).href).toBe(url.href);
    }
    expect(hostileUrls.size).toBeGreaterThanOrEqual(400);
    expect(rejectedCount).toBeGreaterThanOrEqual(50);
  });
});
