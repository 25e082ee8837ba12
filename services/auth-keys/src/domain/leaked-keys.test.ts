import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { isApiKey, mintApiKey } from "@payment-links/contracts";

// What scanners get. The page and the keys can only change together.
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const published = /^```regex\n(.+)\n```$/m.exec(readme)?.[1] ?? "";

const findKeys = (text: string): string[] =>
  [...text.matchAll(new RegExp(published, "g"))].map(([found]) => found).filter(isApiKey);

describe("the published pattern", () => {
  test.each(["live", "test"] as const)("matches every %s key, whole", (mode) => {
    for (let made = 0; made < 1000; made += 1) {
      const key = mintApiKey(mode);
      expect(new RegExp(`^(?:${published})$`).test(key)).toBe(true);
    }
  });

  test("uses no more than what every scanner's engine knows", () => {
    // RE2 and Hyperscan know no look-around and no back-reference.
    expect(published).not.toMatch(/\(\?[=!<]|\\\d/);
  });

  const key = mintApiKey("live");
  const places: [where: string, text: string][] = [
    ["a shell line", `export API_KEY=${key}`],
    ["JSON", `{"headers":{"X-API-Key":"${key}"}}`],
    ["YAML, at the end of a file", `apiKey: ${key}\n`],
    ["a query", `https://a.example/?k=${key}&x=1`],
    ["a percent-encoded text", `X-API-Key%3A%20${key}%0A`],
    ["a text that goes on without a break", `API_KEY_${key}eol`],
    ["minified code", `f("${key}"),g("${mintApiKey("live").slice(0, -1)}!")`],
    ["a log line with a typo of it before", `${key.slice(0, 44)} ${key}`],
  ];
  test.each(places)("with the checksum finds a key in %s", (_where, text) => {
    expect(findKeys(text)).toEqual([key]);
  });

  const changed = (place: number): string => {
    const character = key[place] === "a" ? "b" : "a";
    return key.slice(0, place) + character + key.slice(place + 1);
  };
  const nearMisses: [why: string, text: string][] = [
    ["one random character is wrong", changed(9)],
    ["the last random character is wrong", changed(38)],
    ["one digit of the checksum is wrong", changed(44)],
    ["the mode is another", key.replace("plk_live_", "plk_test_")],
    ["the mode is none", key.replace("plk_live_", "plk_prod_")],
    ["the prefix is in capitals", key.replace("plk", "PLK")],
    ["one character is missing", key.slice(0, -1)],
    ["all is zeros", `plk_live_${"0".repeat(36)}`],
    ["it is shown in short", `${key.slice(0, 13)}…`],
  ];
  test.each(nearMisses)("finds nothing where %s", (_why, text) => {
    expect(findKeys(`key = "${text}"`)).toEqual([]);
  });
});
