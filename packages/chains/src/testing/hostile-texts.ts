/** Texts by the name of their fault. They are the same in every run. */
export type HostileTexts = ReadonlyMap<string, string>;

const whitespace = {
  space: " ",
  tab: "\t",
  "line feed": "\n",
  "carriage return": "\r",
  "two line feeds": "\r\n",
  NUL: "\0",
  "no-break space": "\u00A0",
  "ideographic space": "\u3000",
  "line separator": "\u2028",
  "soft hyphen": "\u00AD",
  "zero-width space": "\u200B",
  "zero-width non-joiner": "\u200C",
  "zero-width joiner": "\u200D",
  "left-to-right mark": "\u200E",
  "right-to-left override": "\u202E",
  "word joiner": "\u2060",
  "byte order mark": "\uFEFF",
  "combining accent": "\u0301",
} as const;

const unexpectedCharacters = [
  ..."0OIl_-+/\\'\"<>%#?&=@:;,.~|*",
  "é",
  "а",
  "Α",
  "\uFF11",
  "🦊",
  "\uD800",
];
const schemes = ["bitcoin:", "ethereum:", "solana:", "tron:", "https://", "data:,", "javascript:"];
const prefixes = [...schemes, "0x", "1", "41", "00", "=", "@", "'", "BITCOIN:", "pay-"];
const suffixes = [
  "?amount=1",
  "?amount=1e3",
  "?amount=+1",
  "?amount=01.0",
  "?amount=1.",
  "?amount=.5",
  "?amount=-1",
  "?amount=1&amount=2",
  "?",
  "#",
  "/",
  "@1",
  ".eth",
  ";",
  "'",
  '"',
  "%00",
  "%20",
  ",",
  "=",
  "==",
  "\\n",
  "0",
  "1",
  "&x",
  "/transfer?address=x",
  "--",
  "\u0000\u0000",
];
const wrappers = [
  ["[", "]"],
  ["<", ">"],
  ["(", ")"],
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["[a](", ")"],
  ["<b>", "</b>"],
  ["{{", "}}"],
  ["${", "}"],
  ["addr(", ")"],
] as const;

/** Functions that replace letters with letters of other scripts that look the same. */
const scriptConverters: Readonly<Record<string, (letter: string) => string>> = {
  Cyrillic: (letter) =>
    ({ a: "а", c: "с", e: "е", o: "о", p: "р", x: "х", y: "у", T: "Т", A: "А", B: "В", E: "Е" })[
      letter
    ] ?? letter,
  Greek: (letter) =>
    ({ o: "ο", v: "ν", T: "Τ", A: "Α", B: "Β", E: "Ε", Z: "Ζ", x: "χ" })[letter] ?? letter,
  "full-width": (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfe_e0),
  mathematical: (letter) =>
    /[a-z]/.test(letter)
      ? String.fromCodePoint(0x1_d4_1a + (letter.codePointAt(0) ?? 0) - 0x61)
      : letter,
};

/** Texts that no chain family accepts in place of the tested text. */
const foreignTexts: Readonly<Record<string, string>> = {
  nothing: "",
  "an address of EVM": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  "an address of Tron": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  "an address of Tron in hex": "41a614f803b6fd780986a42c78ec9c7f77e6ded13c",
  "an address of Solana": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "an address of Bitcoin": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  "an address of Bitcoin in the old form": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
  "an address of a test network": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
  "an address of Litecoin": "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
  "an address of Cosmos": "cosmos1vqpjljwsynsn58dugz0w8ut7kun7t8ls2qkmsq",
  "an XRP address": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh",
  "a name": "vitalik.eth",
  "an invoice of Lightning":
    "lnbc20m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs",
  "a private key in hex": "0b".repeat(32),
  "a private key in WIF": "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617",
  "a private key of Solana": "2".repeat(88),
  "recovery words": "legal winner thank year wave sausage worth useful legal winner thank yellow",
  null: "null",
  undefined: "undefined",
  NaN: "NaN",
  "an object": "[object Object]",
  "a number": "1234567890123456789012345678901234",
  "zeros of base58": "1".repeat(34),
  "a path": "../../etc/passwd",
  SQL: "'; DROP TABLE links_api.links; --",
  "a template": "{{constructor.constructor('return 1')()}}",
  "a million characters": "1".repeat(1_000_000),
};

/** Returns the next character of the same kind, so that only the checksum can detect the change. */
const getNextCharacter = (letter: string): string => {
  const next = { "9": "2", z: "a", Z: "A", k: "m", H: "J", N: "P", f: "a", F: "A" }[letter];
  return next ?? String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1);
};

const swapCase = (text: string): string =>
  [...text]
    .map((letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    .join("");

/**
 * Corrupts a valid text in hundreds of ways, such as typing errors, font and clipboard damage, and
 * attacks. Also returns texts that never had a valid form. Each name begins with the kind of fault.
 * The valid text itself is not included.
 */
export const corruptText = (validText: string): HostileTexts => {
  const middle = Math.floor(validText.length / 2);
  const insertText = (text: string, at = middle): string =>
    validText.slice(0, at) + text + validText.slice(at);
  const replaceCharacter = (text: string, at = middle): string =>
    validText.slice(0, at) + text + validText.slice(at + 1);
  const characters = Array.from(validText, (letter, at) => ({ letter, at }));
  const variants: [string, string][] = [
    ...Object.entries(whitespace).flatMap(([name, space]): [string, string][] => [
      [`blank: ${name} before`, space + validText],
      [`blank: ${name} after`, validText + space],
      [`blank: ${name} behind the first letter`, insertText(space, 1)],
      [`blank: ${name} within`, insertText(space)],
    ]),
    ...unexpectedCharacters.flatMap((character): [string, string][] => [
      [`character: ${character} within`, insertText(character)],
      [`character: ${character} instead of another`, replaceCharacter(character)],
    ]),
    ...[1, 2, 3, 5, 10, middle].flatMap((count): [string, string][] => [
      [`length: without the first ${count}`, validText.slice(count)],
      [`length: without the last ${count}`, validText.slice(0, -count)],
      [`length: the first ${count} twice`, validText.slice(0, count) + validText],
    ]),
    ["length: twice", validText + validText],
    ["length: 30,000 times", validText.repeat(30_000)],
    ...characters.map(({ letter, at }): [string, string] => [
      `letter: another at ${at}`,
      replaceCharacter(getNextCharacter(letter), at),
    ]),
    ...characters.map(({ at }): [string, string] => [
      `letter: none at ${at}`,
      replaceCharacter("", at),
    ]),
    ...characters.map(({ letter, at }): [string, string] => [
      `letter: two swapped at ${at}`,
      validText.slice(0, at) + validText.charAt(at + 1) + letter + validText.slice(at + 2),
    ]),
    ...characters.map(({ letter, at }): [string, string] => [
      `case: the other at ${at}`,
      replaceCharacter(swapCase(letter), at),
    ]),
    ["case: capitals", validText.toUpperCase()],
    ["case: small letters", validText.toLowerCase()],
    ["case: swapped", swapCase(validText)],
    ...prefixes.map((prefix): [string, string] => [
      `wrapped: ${prefix} before`,
      prefix + validText,
    ]),
    ...suffixes.map((suffix): [string, string] => [
      `wrapped: ${suffix} behind`,
      validText + suffix,
    ]),
    ...wrappers.map(([a, b]): [string, string] => [`wrapped: in ${a}${b}`, a + validText + b]),
    ["encoded: base64", Buffer.from(validText).toString("base64")],
    ["encoded: hex", Buffer.from(validText).toString("hex")],
    ["encoded: backwards", [...validText].toReversed().join("")],
    ["encoded: UTF-16", [...validText].join("\0")],
    ["encoded: percent", [...validText].map((character) => `%${toHexCode(character)}`).join("")],
    ["encoded: percent, one letter", replaceCharacter(`%${toHexCode(validText.charAt(middle))}`)],
    [
      "encoded: percent twice, one letter",
      replaceCharacter(`%25${toHexCode(validText.charAt(middle))}`),
    ],
    ["encoded: HTML, one letter", replaceCharacter(`&#x${toHexCode(validText.charAt(middle))};`)],
    ["encoded: JSON, one letter", replaceCharacter(`\\u00${toHexCode(validText.charAt(middle))}`)],
    ["encoded: accents apart", validText.replace(/[a-z]/i, (character) => `${character}\u0301`)],
    ...Object.entries(scriptConverters).flatMap(([name, convert]): [string, string][] => [
      [`script: all ${name}`, Array.from(validText, convert).join("")],
      [
        `script: its end ${name}`,
        validText.slice(0, middle) + Array.from(validText.slice(middle), convert).join(""),
      ],
    ]),
    ...Object.entries(foreignTexts).map(([name, text]): [string, string] => [
      `foreign: ${name}`,
      text,
    ]),
  ];
  return new Map(variants.filter(([, text]) => text !== validText));
};

const toHexCode = (letter: string): string =>
  (letter.codePointAt(0) ?? 0).toString(16).padStart(2, "0");

/** A difference from a library, and why this implementation is right. */
export type ExpectedDifference = {
  /** The names or texts to which the difference applies. */
  appliesTo: RegExp | ((text: string) => boolean);
  ours: "taken" | "refused";
  reason: string;
};

/** Longer than any valid text. The libraries take minutes to reject a million base58 letters. */
const comparedLengthMax = 5_000;

/**
 * Compares two parsers and returns:
 * - the texts on which they differ and that no row explains, by name and with our result
 * - the rows that do not explain any difference
 * - the number of different texts that our parser rejects
 *
 * Both lists are empty if the table of differences is accurate.
 */
export const findUnexplained = (
  texts: HostileTexts,
  differences: readonly ExpectedDifference[],
  { ours, theirs }: Record<"ours" | "theirs", (text: string) => boolean>,
): { unexplained: string[]; unusedDifferences: string[]; rejectedCount: number } => {
  const usedDifferences = new Set<ExpectedDifference>();
  const unexplained: string[] = [];
  const rejectedTexts = new Set<string>();
  for (const [name, text] of texts) {
    const isAccepted = ours(text);
    if (!isAccepted) rejectedTexts.add(text);
    if (isAccepted === (text.length <= comparedLengthMax && theirs(text))) continue;
    const verdict = isAccepted ? "taken" : "refused";
    const applies = (appliesTo: ExpectedDifference["appliesTo"]): boolean =>
      typeof appliesTo === "function" ? appliesTo(text) : appliesTo.test(name);
    const difference = differences.find(
      ({ appliesTo, ours }) => ours === verdict && applies(appliesTo),
    );
    if (difference === undefined) unexplained.push(`${verdict}: ${name}: ${text.slice(0, 100)}`);
    else usedDifferences.add(difference);
  }
  const unusedDifferences = differences
    .filter((difference) => !usedDifferences.has(difference))
    .map(({ reason }) => reason);
  return { unexplained, unusedDifferences, rejectedCount: rejectedTexts.size };
};
