import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { isApiKey, generateApiKey } from "@payment-links/contracts";
import { parseScannerKeys } from "./leaked-keys.ts";

// The README's pattern is what scanners use, so it must change together with the key format.
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const publishedPattern = /^```regex\n(.+)\n```$/m.exec(readme)?.[1] ?? "";

const findKeys = (text: string): string[] =>
  [...text.matchAll(new RegExp(publishedPattern, "g"))].map(([match]) => match).filter(isApiKey);

describe("the published pattern", () => {
  test.each(["live", "test"] as const)("matches every %s key completely", (mode) => {
    for (let count = 0; count < 1000; count += 1) {
      const key = generateApiKey(mode);
      expect(new RegExp(`^(?:${publishedPattern})$`).test(key)).toBe(true);
    }
  });

  test("uses only features that every scanner's engine supports", () => {
    // RE2 and Hyperscan do not support look-around or back-references.
    expect(publishedPattern).not.toMatch(/\(\?[=!<]|\\\d/);
  });

  const key = generateApiKey("live");
  const contexts: [where: string, text: string][] = [
    ["a shell line", `export API_KEY=${key}`],
    ["JSON", `{"headers":{"X-API-Key":"${key}"}}`],
    ["YAML at the end of a file", `apiKey: ${key}\n`],
    ["a query string", `https://a.example/?k=${key}&x=1`],
    ["percent-encoded text", `X-API-Key%3A%20${key}%0A`],
    ["text that continues without a separator", `API_KEY_${key}eol`],
    ["minified code", `f("${key}"),g("${generateApiKey("live").slice(0, -1)}!")`],
    ["a log line that first contains the key with a typo", `${key.slice(0, 44)} ${key}`],
  ];
  test.each(contexts)("finds a key with a valid checksum in %s", (_where, text) => {
    expect(findKeys(text)).toEqual([key]);
  });

  const replaceCharacter = (position: number): string => {
    const character = key[position] === "a" ? "b" : "a";
    return key.slice(0, position) + character + key.slice(position + 1);
  };
  const nearMisses: [why: string, text: string][] = [
    ["one random character is wrong", replaceCharacter(9)],
    ["the last random character is wrong", replaceCharacter(38)],
    ["one digit of the checksum is wrong", replaceCharacter(44)],
    ["the mode is different", key.replace("plk_live_", "plk_test_")],
    ["the mode is unknown", key.replace("plk_live_", "plk_prod_")],
    ["the prefix is uppercase", key.replace("plk", "PLK")],
    ["one character is missing", key.slice(0, -1)],
    ["all characters are zeros", `plk_live_${"0".repeat(36)}`],
    ["the key is abbreviated", `${key.slice(0, 13)}…`],
  ];
  test.each(nearMisses)("finds nothing when %s", (_why, text) => {
    expect(findKeys(`key = "${text}"`)).toEqual([]);
  });
});

describe("parseScannerKeys", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const base64 = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const parseIdentifiers = (text: string) => {
    const keys = parseScannerKeys(text);
    return keys && [...keys.keys()];
  };
  const longIdentifier = "i".repeat(100);

  test.each([
    ["one key", `a=${base64}`, ["a"]],
    ["one key without base64 padding", `a=${base64.replaceAll("=", "")}`, ["a"]],
    ["several keys with whitespace", ` a=${base64} ,\n b-1._=${base64}\n`, ["a", "b-1._"]],
    ["an identifier of 100 characters", `${longIdentifier}=${base64}`, [longIdentifier]],
  ])("parses %s", (_name, text, identifiers) => {
    expect(parseIdentifiers(text)).toEqual(identifiers);
  });

  test.each([
    ["an identifier of 101 characters", `${longIdentifier}i=${base64}`],
    ["no identifier", `=${base64}`],
    ["an identifier with a space", `a b=${base64}`],
    ["a key without an identifier", base64],
    ["an identifier without a key", "a"],
    ["a trailing comma", `a=${base64},`],
    ["one valid and one invalid entry", `a=${base64},b=QUJD`],
    ["an empty string", ""],
  ])("rejects the whole list for %s", (_name, text) => {
    expect(parseIdentifiers(text)).toBeUndefined();
  });
});
