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
  test("reads several providers, and several secrets of one in their order", () => {
    const text = `acme=whsec_${encodeLetters("a")}, demo=whsec_${encodeLetters("d")},acme=whsec_${encodeLetters("b")},`;
    expect(exportKeys(parseProviderSecrets(text))).toEqual([
      ["acme", ["a".repeat(32), "b".repeat(32)]],
      ["demo", ["d".repeat(32)]],
    ]);
  });

  test("takes a hundred providers, five secrets of one, and a name of 64", () => {
    const name = "n".repeat(64);
    const letters = ["a", "b", "c", "d", "e"];
    const fiveEntries = letters.map((letter) => `${name}=whsec_${encodeLetters(letter)}`);
    const providers = exportKeys(parseProviderSecrets([...fiveEntries, createEntries(99)].join()));
    expect(providers).toHaveLength(100);
    expect(providers[0]).toEqual([name, letters.map((letter) => letter.repeat(32))]);
  });

  test("nothing given is no provider", () => {
    expect(exportKeys(parseProviderSecrets(""))).toEqual([]);
    expect(exportKeys(parseProviderSecrets(" , "))).toEqual([]);
  });

  test("base64 may come with or without its padding", () => {
    const padded = encodeLetters("a", 16);
    expect(padded).toMatch(/==$/);
    for (const text of [`p=whsec_${padded}`, `p=whsec_${padded.replace(/=+$/, "")}`]) {
      expect(exportKeys(parseProviderSecrets(text))).toEqual([["p", ["a".repeat(16)]]]);
    }
  });

  test("a name that is a property of every object is a provider like any other", () => {
    const providers = parseProviderSecrets(`constructor=whsec_${encodeLetters("a")}`);
    expect(exportKeys(providers)).toEqual([["constructor", ["a".repeat(32)]]]);
    expect("fault" in providers ? "" : providers.get("toString")).toBeUndefined();
  });

  test.each([
    ["no name", `whsec_${encodeLetters("s")}`],
    ["an empty name", `=whsec_${encodeLetters("s")}`],
    ["a name with a slash", `a/b=whsec_${encodeLetters("s")}`],
    ["a name too long", `${"n".repeat(65)}=whsec_${encodeLetters("s")}`],
    ["a name that begins with a dot", `.a=whsec_${encodeLetters("s")}`],
    ["another prefix", `acme=whsek_${encodeLetters("s")}`],
    ["no prefix", `acme=${encodeLetters("s")}`],
    ["no base64", `acme=whsec_${encodeLetters("s")}!`],
    ["a line end in it", `acme=whsec_${encodeLetters("s", 15)}\n${encodeLetters("s")}`],
    ["base64 for URLs", `acme=whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`],
    ["too much padding", `acme=whsec_${encodeLetters("s", 16)}=`],
    ["base64 cut short", `acme=whsec_${encodeLetters("s").slice(0, 41)}`],
    ["too short a key", `acme=whsec_${encodeLetters("s", 15)}`],
    ["an empty key", "acme=whsec_"],
    ["six secrets of one provider", `acme=whsec_${encodeLetters("s")},`.repeat(6)],
    ["a hundred more providers", createEntries(100)],
  ])("with %s it tells what is wrong, and nothing of the value", (_what, text) => {
    const result = parseProviderSecrets(`good=whsec_${encodeLetters("g")},${text}`);
    const fault = "fault" in result ? result.fault : "";
    expect(fault).not.toBe("");
    for (const secret of [encodeLetters("s"), encodeLetters("s", 15), encodeLetters("g")]) {
      expect(fault).not.toContain(secret.slice(0, 8));
    }
    expect(fault).not.toContain("acme");
  });

  test("what it answers shows no key when it is printed", () => {
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
