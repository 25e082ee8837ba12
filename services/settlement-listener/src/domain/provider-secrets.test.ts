import { inspect } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { parseProviderSecrets } from "./provider-secrets.ts";

const encodeLetters = (letter: string, count = 32): string =>
  Buffer.from(letter.repeat(count)).toString("base64");

const exportKeys = (providers: ReturnType<typeof parseProviderSecrets>) => {
  if ("fault" in providers) throw new Error(providers.fault);
  return [...providers].map(([name, keys]) => [name, keys.map((key) => key.export().toString())]);
};

describe("parseProviderSecrets (rule OPS-6)", () => {
  test("parses several providers, and several secrets of one in order", () => {
    const text = `acme=whsec_${encodeLetters("a")}, demo=whsec_${encodeLetters("d")},acme=whsec_${encodeLetters("b")},`;
    expect(exportKeys(parseProviderSecrets(text))).toEqual([
      ["acme", ["a".repeat(32), "b".repeat(32)]],
      ["demo", ["d".repeat(32)]],
    ]);
  });

  test("accepts 100 providers, 5 secrets of one, and a name with 64 characters", () => {
    const name = "n".repeat(64);
    const letters = ["a", "b", "c", "d", "e"];
    const fiveEntries = letters.map((letter) => `${name}=whsec_${encodeLetters(letter)}`);
    const providers = exportKeys(parseProviderSecrets([...fiveEntries, createEntries(99)].join()));
    expect(providers).toHaveLength(100);
    expect(providers[0]).toEqual([name, letters.map((letter) => letter.repeat(32))]);
  });

  test("returns no providers for an empty value", () => {
    expect(exportKeys(parseProviderSecrets(""))).toEqual([]);
    expect(exportKeys(parseProviderSecrets(" , "))).toEqual([]);
  });

  test("accepts base64 with and without padding", () => {
    const padded = encodeLetters("a", 16);
    expect(padded).toMatch(/==$/);
    for (const text of [`p=whsec_${padded}`, `p=whsec_${padded.replace(/=+$/, "")}`]) {
      expect(exportKeys(parseProviderSecrets(text))).toEqual([["p", ["a".repeat(16)]]]);
    }
  });

  test("accepts a name that is a property of every object", () => {
    const providers = parseProviderSecrets(`constructor=whsec_${encodeLetters("a")}`);
    expect(exportKeys(providers)).toEqual([["constructor", ["a".repeat(32)]]]);
    expect("fault" in providers ? "" : providers.get("toString")).toBeUndefined();
  });

  test.each([
    ["no name", `whsec_${encodeLetters("s")}`],
    ["an empty name", `=whsec_${encodeLetters("s")}`],
    ["a name with a slash", `a/b=whsec_${encodeLetters("s")}`],
    ["a long name", `${"n".repeat(65)}=whsec_${encodeLetters("s")}`],
    ["a name that starts with a dot", `.a=whsec_${encodeLetters("s")}`],
    ["another prefix", `acme=whsek_${encodeLetters("s")}`],
    ["no prefix", `acme=${encodeLetters("s")}`],
    ["invalid base64", `acme=whsec_${encodeLetters("s")}!`],
    ["a line break", `acme=whsec_${encodeLetters("s", 15)}\n${encodeLetters("s")}`],
    ["base64url", `acme=whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`],
    ["too much padding", `acme=whsec_${encodeLetters("s", 16)}=`],
    ["truncated base64", `acme=whsec_${encodeLetters("s").slice(0, 41)}`],
    ["a short key", `acme=whsec_${encodeLetters("s", 15)}`],
    ["an empty key", "acme=whsec_"],
    ["six secrets of one provider", `acme=whsec_${encodeLetters("s")},`.repeat(6)],
    ["100 more providers", createEntries(100)],
  ])("reports %s without any part of the value", (_what, text) => {
    const result = parseProviderSecrets(`good=whsec_${encodeLetters("g")},${text}`);
    const fault = "fault" in result ? result.fault : "";
    expect(fault).not.toBe("");
    for (const secret of [encodeLetters("s"), encodeLetters("s", 15), encodeLetters("g")]) {
      expect(fault).not.toContain(secret.slice(0, 8));
    }
    expect(fault).not.toContain("acme");
  });

  test("returns keys that print nothing of their value", () => {
    const providers = parseProviderSecrets(`acme=whsec_${encodeLetters("s")}`);
    expect(inspect(providers, { depth: 9 })).not.toContain("sss");
    expect(JSON.stringify([...("fault" in providers ? [] : providers)])).not.toContain("sss");
  });
});

function createEntries(count: number): string {
  return Array.from({ length: count }, (_, index) => `p${index}=whsec_${encodeLetters("s")}`).join(
    ",",
  );
}
