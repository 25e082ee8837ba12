import { describe, expect, test } from "@jest/globals";
import { isSameAddress, parseAddress } from "./chain-address.ts";
import type { ChainType } from "./account.ts";

const validAddresses: Record<ChainType, { id: string; address: string }> = {
  EVM: { id: "8453", address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  SVM: { id: "solana", address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" },
  TVM: { id: "tron", address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  BVM: { id: "bitcoin", address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
};
const chainTypes = Object.keys(validAddresses) as ChainType[];

describe("parseAddress", () => {
  test.each(chainTypes)(
    "%s: rejects this family's address on chains of every other family",
    (chainType) => {
      const { id, address } = validAddresses[chainType];
      expect(parseAddress({ id, chainType }, address)).toEqual({ address });
      for (const otherChainType of chainTypes) {
        if (otherChainType === chainType) continue;
        const chain = { id: validAddresses[otherChainType].id, chainType: otherChainType };
        expect(parseAddress(chain, address)).toHaveProperty("fault");
      }
    },
  );

  test("throws for an unknown Bitcoin network", () => {
    const chain = { id: "bitcoin-testnet3", chainType: "BVM" } as const;
    expect(() => parseAddress(chain, validAddresses.BVM.address)).toThrow(/not a Bitcoin network/);
  });
});

describe("isSameAddress (rule API-24)", () => {
  const evmAddress = validAddresses.EVM.address;
  test.each([
    ["EVM", evmAddress, evmAddress.toLowerCase(), true],
    ["EVM", evmAddress, evmAddress.replace("0x8", "0x9"), false],
    ["SVM", "AbC", "AbC", true],
    ["SVM", "AbC", "abc", false],
    ["TVM", "TAb", "TAB", false],
    ["BVM", validAddresses.BVM.address, validAddresses.BVM.address.toUpperCase(), true],
    ["BVM", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1a1zp1ep5qgefi2dmptftl5slmv7divfna", false],
  ] as const)("on %s, given %s and %s, returns %s", (chainType, a, b, isSame) => {
    expect(isSameAddress(chainType, a, b)).toBe(isSame);
  });
});
