import { inspect } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { parseProviderSecrets } from "./provider-secrets.ts";

const encoded = (letter: string, count = 32): string =>
  Buffer.from(letter.repeat(count)).toString("base64");

const exported = (providers: ReturnType<typeof parseProviderSecrets>) => {
  if ("fault" in providers) throw new Error(providers.fault);
  return [...providers].map(([name, keys]) => [name, keys.map((key) => key.export().toString())]);
};

describe("parseProviderSecrets (rule OPS-6)", () => {
  test("reads several providers, and several secrets of one in their order", () => {
    const text = `acme=whsec_${encoded("a")}, demo=whsec_${encoded("d")},acme=whsec_${encoded("b")},`;
    expect(exported(parseProviderSecrets(text))).toEqual([
      ["acme", ["a".repeat(32), "b".repeat(32)]],
      ["demo", ["d".repeat(32)]],
    ]);
  });

  test("takes a hundred providers, five secrets of one, and a name of 64", () => {
    const name = "n".repeat(64);
    const letters = ["a", "b", "c", "d", "e"];
    const five = letters.map((letter) => `${name}=whsec_${encoded(letter)}`);
    const providers = exported(parseProviderSecrets([...five, manyProviders(99)].join()));
    expect(providers).toHaveLength(100);
    expect(providers[0]).toEqual([name, letters.map((letter) => letter.repeat(32))]);
  });

  test("nothing given is no provider", () => {
    expect(exported(parseProviderSecrets(""))).toEqual([]);
    expect(exported(parseProviderSecrets(" , "))).toEqual([]);
  });

  test("base64 may come with or without its padding", () => {
    const padded = encoded("a", 16);
    expect(padded).toMatch(/==$/);
    for (const text of [`p=whsec_${padded}`, `p=whsec_${padded.replace(/=+$/, "")}`]) {
      expect(exported(parseProviderSecrets(text))).toEqual([["p", ["a".repeat(16)]]]);
    }
  });

  test("a name that is a property of every object is a provider like any other", () => {
    const providers = parseProviderSecrets(`constructor=whsec_${encoded("a")}`);
    expect(exported(providers)).toEqual([["constructor", ["a".repeat(32)]]]);
    expect("fault" in providers ? "" : providers.get("toString")).toBeUndefined();
  });

  test.each([
    ["no name", `whsec_${encoded("s")}`],
    ["an empty name", `=whsec_${encoded("s")}`],
    ["a name with a slash", `a/b=whsec_${encoded("s")}`],
    ["a name too long", `${"n".repeat(65)}=whsec_${encoded("s")}`],
    ["a name that begins with a dot", `.a=whsec_${encoded("s")}`],
    ["another prefix", `acme=whsek_${encoded("s")}`],
    ["no prefix", `acme=${encoded("s")}`],
    ["no base64", `acme=whsec_${encoded("s")}!`],
    ["a line end in it", `acme=whsec_${encoded("s", 15)}\n${encoded("s")}`],
    ["base64 for URLs", `acme=whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`],
    ["too much padding", `acme=whsec_${encoded("s", 16)}=`],
    ["base64 cut short", `acme=whsec_${encoded("s").slice(0, 41)}`],
    ["too short a key", `acme=whsec_${encoded("s", 15)}`],
    ["an empty key", "acme=whsec_"],
    ["six secrets of one provider", `acme=whsec_${encoded("s")},`.repeat(6)],
    ["a hundred more providers", manyProviders(100)],
  ])("with %s it tells what is wrong, and nothing of the value", (_what, text) => {
    const answer = parseProviderSecrets(`good=whsec_${encoded("g")},${text}`);
    const fault = "fault" in answer ? answer.fault : "";
    expect(fault).not.toBe("");
    for (const secret of [encoded("s"), encoded("s", 15), encoded("g")]) {
      expect(fault).not.toContain(secret.slice(0, 8));
    }
    expect(fault).not.toContain("acme");
  });

  test("what it answers shows no key when it is printed", () => {
    const providers = parseProviderSecrets(`acme=whsec_${encoded("s")}`);
    expect(inspect(providers, { depth: 9 })).not.toContain("sss");
    expect(JSON.stringify([...("fault" in providers ? [] : providers)])).not.toContain("sss");
  });
});

function manyProviders(count: number): string {
  return Array.from({ length: count }, (_, index) => `p${index}=whsec_${encoded("s")}`).join(",");
}
