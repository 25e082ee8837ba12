import { describe, expect, test } from "@jest/globals";
import { isSameAddress, readAddress } from "./chain-address.ts";
import type { ChainType } from "./account.ts";

const right: Record<ChainType, { id: string; address: string }> = {
  EVM: { id: "8453", address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  SVM: { id: "solana", address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" },
  TVM: { id: "tron", address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  BVM: { id: "bitcoin", address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
};
const families = Object.keys(right) as ChainType[];

describe("an address of a family", () => {
  test.each(families)("%s: is refused as any other family's", (family) => {
    const { id, address } = right[family];
    expect(readAddress({ id, chainType: family }, address)).toEqual({ address });
    for (const other of families) {
      if (other === family) continue;
      const chain = { id: right[other].id, chainType: other };
      expect(readAddress(chain, address)).toHaveProperty("fault");
    }
  });

  test("on a network of Bitcoin that is not known is an error of ours", () => {
    const chain = { id: "bitcoin-testnet3", chainType: "BVM" } as const;
    expect(() => readAddress(chain, right.BVM.address)).toThrow(/no network/);
  });
});

describe("isSameAddress (rule API-24)", () => {
  const evm = right.EVM.address;
  test.each([
    ["EVM", evm, evm.toLowerCase(), true],
    ["EVM", evm, evm.replace("0x8", "0x9"), false],
    ["SVM", "AbC", "AbC", true],
    ["SVM", "AbC", "abc", false],
    ["TVM", "TAb", "TAB", false],
    ["BVM", right.BVM.address, right.BVM.address.toUpperCase(), true],
    ["BVM", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1a1zp1ep5qgefi2dmptftl5slmv7divfna", false],
  ] as const)("%s: %s and %s: %s", (chainType, a, b, isSame) => {
    expect(isSameAddress(chainType, a, b)).toBe(isSame);
  });
});
