import { describe, expect, test } from "@jest/globals";
import { type Hex, encodeAbiParameters, numberToHex, stringToHex } from "viem";
import { loadCatalogue } from "@payment-links/contracts";
import { findChainFault } from "./find-chain-fault.ts";
import { toEvmChain } from "./evm-chain.ts";

/** A chain with one token in the catalogue: USDC with 6 decimals. */
const catalogue = loadCatalogue();
const baseChain = toEvmChain(
  catalogue,
  catalogue.chains.find(({ id }) => id === "8453") ?? { id: "8453" },
);
const usdc = [...baseChain.tokens].filter(([, { symbol }]) => symbol === "USDC");
const chain = { ...baseChain, tokens: new Map(usdc) };

const encodedSix = numberToHex(6, { size: 32 });
const encodeString = (text: string): Hex => encodeAbiParameters([{ type: "string" }], [text]);
const symbolCall = "0x95d89b41";

/** Returns the fault of a chain whose token returns these values. */
const findFault = async ({
  decimals = encodedSix,
  symbol = encodeString("USDC"),
}: Record<string, Hex>) => {
  const fault = await findChainFault(chain, {
    readChain: async () => "8453",
    queryContracts: async (requests) =>
      requests.map(({ data }) => {
        if (data === undefined) return "0x01";
        return data === symbolCall ? symbol : decimals;
      }),
  });
  return fault?.replace(/^token \S+ at \S+: /, "");
};

describe("findChainFault", () => {
  test.each([
    ["an ABI string", encodeString("USDC")],
    ["an ABI string in another case", encodeString("UsdC")],
    ["32 bytes padded with 0, as the oldest contracts return", stringToHex("USDC", { size: 32 })],
  ])("accepts a symbol that is %s", async (_form, symbol) => {
    expect(await findFault({ symbol })).toBeUndefined();
  });

  test.each([
    ["empty", "0x", "null"],
    ["half a word", "0x0102", "null"],
    ["longer than a symbol can be", encodeString("x".repeat(300)), "null"],
    ["megabytes long", encodeString("USDC".repeat(500_000)), "null"],
    ["at an offset outside the response", `0x${"ff".repeat(64)}`, "null"],
    ["longer than the response", `0x${"20".padStart(64, "0")}${"ff".repeat(32)}`, "null"],
    ["of another token", encodeString("USDT"), '"USDT"'],
  ] as [string, Hex, string][])("rejects a symbol that is %s", async (_what, symbol, reported) => {
    expect(await findFault({ symbol })).toBe(`the symbol is ${reported}, not USDC`);
  });

  // Bridges use the original token's symbol for their own tokens. That must not stop a chain.
  test("does not query a look-alike (rule CHAIN-27)", async () => {
    const tokens = new Map(
      [...baseChain.tokens].filter(([, { symbol }]) => /^USDb?C$/.test(symbol)),
    );
    expect([...tokens.values()].map(({ symbol }) => symbol)).toEqual(["USDC", "USDbC"]);
    const sentRequests: unknown[] = [];
    const fault = await findChainFault(
      { ...baseChain, tokens },
      {
        readChain: async () => "8453",
        queryContracts: async (requests) => {
          sentRequests.push(...requests);
          return requests.map(({ data }) =>
            data === undefined ? "0x01" : data === symbolCall ? encodeString("USDC") : encodedSix,
          );
        },
      },
    );
    expect(fault).toBeUndefined();
    expect(sentRequests).not.toContainEqual(
      expect.objectContaining({ address: [...tokens.keys()][1] }),
    );
  });

  test.each([
    ["empty", "0x", "missing"],
    ["two words", `${encodedSix}${encodedSix.slice(2)}`, "missing"],
    ["another number", numberToHex(2n ** 256n - 1n), String(2n ** 256n - 1n)],
  ] as [string, Hex, string][])("rejects decimals that are %s", async (_, decimals, reported) => {
    expect(await findFault({ decimals })).toBe(`decimals are ${reported}, not 6`);
  });
});
