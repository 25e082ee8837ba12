import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CatalogueData,
  createCatalogue,
  isSameAddress,
  openCatalogue,
  showToken,
} from "./catalogue.ts";
import { seed } from "./catalogue-seed.ts";
import { isEvmAddress, toEip55 } from "./evm-address.ts";
import { TokenData } from "./payment-link.ts";

const usdcOnBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const [base, solana] = ["8453", "solana"].map((id) => seed.chains.find((c) => c.id === id));
const [token, solanaToken] = ["usdc-base", "usdc-solana"].map((id) =>
  seed.tokens.find((t) => t.id === id),
);
if (!base || !solana || !token || !solanaToken) throw new Error("the seed lacks what tests need");

describe("the seed", () => {
  const catalogue = openCatalogue();

  test("keeps to its own schema", () => {
    expect(CatalogueData.parse(seed)).toEqual(seed);
  });

  test.each(seed.tokens.map((entry) => [entry.id, entry] as const))(
    "%s has a source, a date and an address that it is found by",
    (id, entry) => {
      expect(entry.source).not.toBe("");
      expect(new Date(entry.verifiedOn).getTime()).toBeLessThanOrEqual(Date.now());
      expect(catalogue.findToken(id)?.chain.id).toBe(entry.chainId);
      expect(catalogue.findTokenByAddress(entry.chainId, entry.address)?.id).toBe(id);
      if (isEvmAddress(entry.address)) expect(toEip55(entry.address)).toBe(entry.address);
    },
  );

  test("says on the wire what spec §2.2 says, and nothing else", () => {
    const shown = showToken({ ...token, chain: base }, "https://pay.example");
    expect(TokenData.strict().parse(shown)).toEqual(shown);
    expect(shown.chain.logo).toBe("https://pay.example/checkout/logos/8453.svg");
  });
});

describe("finding a token by its address", () => {
  const catalogue = openCatalogue();

  test("has no regard to case on an EVM chain", () => {
    for (const address of [usdcOnBase.toLowerCase(), `0x${usdcOnBase.slice(2).toUpperCase()}`]) {
      expect(catalogue.findTokenByAddress("8453", address)?.id).toBe("usdc-base");
    }
  });

  test("has regard to case on every other chain, where case tells addresses apart", () => {
    expect(catalogue.findTokenByAddress("solana", solanaToken.address)?.id).toBe("usdc-solana");
    const lower = solanaToken.address.toLowerCase();
    expect(catalogue.findTokenByAddress("solana", lower)).toBeUndefined();
  });

  test.each([
    ["1", usdcOnBase],
    ["", usdcOnBase],
    ["8453", ""],
    ["__proto__", "toString"],
  ])("finds nothing on chain %j at %j", (chainId, address) => {
    expect(catalogue.findTokenByAddress(chainId, address)).toBeUndefined();
  });

  test("finds no token by a name that every object has", () => {
    expect(catalogue.findToken("constructor")).toBeUndefined();
  });
});

describe("isSameAddress", () => {
  test.each([
    ["EVM", usdcOnBase, usdcOnBase.toLowerCase(), true],
    ["EVM", usdcOnBase, usdcOnBase.replace("0x8", "0x9"), false],
    ["SVM", "AbC", "AbC", true],
    ["SVM", "AbC", "abc", false],
    ["TVM", "TAb", "TAB", false],
    ["BVM", "bc1q", "BC1Q", false],
  ] as const)("%s: %s and %s: %s", (chainType, a, b, isSame) => {
    expect(isSameAddress(chainType, a, b)).toBe(isSame);
  });
});

describe("wrong data is refused", () => {
  const data = { chains: [base, solana], tokens: [token, solanaToken] };
  test.each([
    ["a doubled chain", { ...data, chains: [base, base, solana] }, /chain 8453 twice/],
    [
      "an EVM chain by a name",
      { ...data, chains: [{ ...base, id: "base" }] },
      /chain base is not named/,
    ],
    [
      "an EVM chain with another's CAIP-2 name",
      { ...data, chains: [{ ...base, caip2: "eip155:1" }] },
      /chain 8453 is not named/,
    ],
    ["a token on an unknown chain", { ...data, chains: [base] }, /usdc-solana is on an unknown/],
    [
      "an address without its checksum",
      { ...data, tokens: [{ ...token, address: usdcOnBase.toLowerCase() }] },
      /usdc-base has no EIP-55 address/,
    ],
    ["no address", { ...data, tokens: [{ ...token, address: "0x12" }] }, /no EIP-55 address/],
    ["a doubled token", { ...data, tokens: [solanaToken, solanaToken] }, /usdc-solana twice/],
    [
      "a doubled address",
      { ...data, tokens: [token, { ...token, id: "usdc-base-again" }] },
      /usdc-base-again twice/,
    ],
  ])("%s", (_name, wrong, message) => {
    expect(() => createCatalogue(wrong)).toThrow(message);
  });
});

describe("CATALOGUE_FILE", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "catalogue-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  test("replaces the seed whole", async () => {
    const own = { chains: [solana], tokens: [{ ...solanaToken, id: "our-usdc" }] };
    const catalogue = openCatalogue(await write("own.json", JSON.stringify(own)));
    expect(catalogue.tokens.map((entry) => entry.id)).toEqual(["our-usdc"]);
    expect(catalogue.findToken("usdc-base")).toBeUndefined();
  });

  test.each([
    ["text that is no JSON", "{", /broken\.json cannot be used: SyntaxError/],
    ["a field of the wrong type", '{"chains":[],"tokens":[{}]}', /broken\.json(.|\n)*decimals/],
    [
      "more decimals than any token has",
      JSON.stringify({ chains: [base], tokens: [{ ...token, decimals: 37 }] }),
      /broken\.json(.|\n)*decimals/,
    ],
    [
      "a chain id that is no path segment",
      JSON.stringify({ chains: [{ ...solana, id: "../x" }], tokens: [] }),
      /broken\.json(.|\n)*chains\[0\]\.id/,
    ],
    [
      "a date that is none",
      JSON.stringify({ chains: [base], tokens: [{ ...token, verifiedOn: "yesterday" }] }),
      /broken\.json(.|\n)*verifiedOn/,
    ],
  ])("given %s, throws and names the file", async (_name, text, message) => {
    const file = await write("broken.json", text);
    expect(() => openCatalogue(file)).toThrow(message);
  });

  test("given a file that is not there, throws and names it", () => {
    expect(() => openCatalogue(join(folder, "none.json"))).toThrow(/none\.json cannot be used/);
  });
});
