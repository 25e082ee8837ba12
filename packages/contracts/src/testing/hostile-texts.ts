/** Texts by what is wrong with them, the same in every run. */
export type HostileTexts = ReadonlyMap<string, string>;

const blanks = {
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

const strangeCharacters = [
  ..."0OIl_-+/\\'\"<>%#?&=@:;,.~|*",
  "é",
  "а",
  "Α",
  "\uFF11",
  "🦊",
  "\uD800",
];
const schemes = ["bitcoin:", "ethereum:", "solana:", "tron:", "https://", "data:,", "javascript:"];
const heads = [...schemes, "0x", "1", "41", "00", "=", "@", "'", "BITCOIN:", "pay-"];
const tails = [
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
const wraps = [
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

/** Letters of other scripts that look as these do. */
const scripts: Readonly<Record<string, (letter: string) => string>> = {
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

/** What is of no form of the family wherever it is typed. */
const strangers: Readonly<Record<string, string>> = {
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
  "an address of XRP": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh",
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

/** The next one of the same kind, so that only the checksum tells. */
const nextOf = (letter: string): string => {
  const next = { "9": "2", z: "a", Z: "A", k: "m", H: "J", N: "P", f: "a", F: "A" }[letter];
  return next ?? String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1);
};

const swapCase = (text: string): string =>
  [...text]
    .map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()))
    .join("");

/**
 * One right text spoilt in hundreds of ways in which hands, fonts, clipboards, and strangers spoil it, and
 * what was never of its form. Each has a name that begins with the kind of its fault; none is the text itself.
 */
export const spoilText = (right: string): HostileTexts => {
  const half = Math.floor(right.length / 2);
  const within = (text: string, at = half): string => right.slice(0, at) + text + right.slice(at);
  const instead = (text: string, at = half): string =>
    right.slice(0, at) + text + right.slice(at + 1);
  const places = Array.from(right, (letter, at) => ({ letter, at }));
  const all: [string, string][] = [
    ...Object.entries(blanks).flatMap(([name, blank]): [string, string][] => [
      [`blank: ${name} before`, blank + right],
      [`blank: ${name} after`, right + blank],
      [`blank: ${name} behind the first letter`, within(blank, 1)],
      [`blank: ${name} within`, within(blank)],
    ]),
    ...strangeCharacters.flatMap((one): [string, string][] => [
      [`character: ${one} within`, within(one)],
      [`character: ${one} instead of another`, instead(one)],
    ]),
    ...[1, 2, 3, 5, 10, half].flatMap((count): [string, string][] => [
      [`length: without the first ${count}`, right.slice(count)],
      [`length: without the last ${count}`, right.slice(0, -count)],
      [`length: the first ${count} twice`, right.slice(0, count) + right],
    ]),
    ["length: twice", right + right],
    ["length: 30,000 times", right.repeat(30_000)],
    ...places.map(({ letter, at }): [string, string] => [
      `letter: another at ${at}`,
      instead(nextOf(letter), at),
    ]),
    ...places.map(({ at }): [string, string] => [`letter: none at ${at}`, instead("", at)]),
    ...places.map(({ letter, at }): [string, string] => [
      `letter: two swapped at ${at}`,
      right.slice(0, at) + right.charAt(at + 1) + letter + right.slice(at + 2),
    ]),
    ...places.map(({ letter, at }): [string, string] => [
      `case: the other at ${at}`,
      instead(swapCase(letter), at),
    ]),
    ["case: capitals", right.toUpperCase()],
    ["case: small letters", right.toLowerCase()],
    ["case: swapped", swapCase(right)],
    ...heads.map((head): [string, string] => [`wrapped: ${head} before`, head + right]),
    ...tails.map((tail): [string, string] => [`wrapped: ${tail} behind`, right + tail]),
    ...wraps.map(([a, b]): [string, string] => [`wrapped: in ${a}${b}`, a + right + b]),
    ["encoded: base64", Buffer.from(right).toString("base64")],
    ["encoded: hex", Buffer.from(right).toString("hex")],
    ["encoded: backwards", [...right].toReversed().join("")],
    ["encoded: UTF-16", [...right].join("\0")],
    ["encoded: percent", [...right].map((one) => `%${codeOf(one)}`).join("")],
    ["encoded: percent, one letter", instead(`%${codeOf(right.charAt(half))}`)],
    ["encoded: percent twice, one letter", instead(`%25${codeOf(right.charAt(half))}`)],
    ["encoded: HTML, one letter", instead(`&#x${codeOf(right.charAt(half))};`)],
    ["encoded: JSON, one letter", instead(`\\u00${codeOf(right.charAt(half))}`)],
    ["encoded: accents apart", right.replace(/[a-z]/i, (one) => `${one}\u0301`)],
    ...Object.entries(scripts).flatMap(([name, write]): [string, string][] => [
      [`script: all ${name}`, Array.from(right, write).join("")],
      [
        `script: its end ${name}`,
        right.slice(0, half) + Array.from(right.slice(half), write).join(""),
      ],
    ]),
    ...Object.entries(strangers).map(([name, text]): [string, string] => [
      `stranger: ${name}`,
      text,
    ]),
  ];
  return new Map(all.filter(([, text]) => text !== right));
};

const codeOf = (letter: string): string =>
  (letter.codePointAt(0) ?? 0).toString(16).padStart(2, "0");

/** A difference from a library, and why ours is right. */
export type Difference = {
  /** Of which names or texts. */
  of: RegExp | ((text: string) => boolean);
  ours: "taken" | "refused";
  why: string;
};

/** Nothing that is right is longer; the libraries take minutes to refuse a million letters of base58. */
const askedLengthMax = 5_000;

/**
 * The texts on which two readers differ, by name, with our verdict, and without those that a row
 * explains; the rows that explain nothing; and how many different texts we refuse. Both lists are empty
 * where the table is true.
 */
export const findUnexplained = (
  texts: HostileTexts,
  differences: readonly Difference[],
  { ours, theirs }: Record<"ours" | "theirs", (text: string) => boolean>,
): { unexplained: string[]; idle: string[]; refusedCount: number } => {
  const explaining = new Set<Difference>();
  const unexplained: string[] = [];
  const refused = new Set<string>();
  for (const [name, text] of texts) {
    const isTaken = ours(text);
    if (!isTaken) refused.add(text);
    if (isTaken === (text.length <= askedLengthMax && theirs(text))) continue;
    const verdict = isTaken ? "taken" : "refused";
    const isOf = (of: Difference["of"]): boolean =>
      typeof of === "function" ? of(text) : of.test(name);
    const row = differences.find(({ of, ours }) => ours === verdict && isOf(of));
    if (row === undefined) unexplained.push(`${verdict}: ${name}: ${text.slice(0, 100)}`);
    else explaining.add(row);
  }
  const idle = differences.filter((row) => !explaining.has(row)).map(({ why }) => why);
  return { unexplained, idle, refusedCount: refused.size };
};
