import { describe, expect, test } from "@jest/globals";
import { type ChainType, chainTypes } from "./chain-types.ts";
import { getFamily, isSameAddress, listWalletApps, needsAddressPerLink } from "./families.ts";

const validAddresses: Record<ChainType, { id: string; address: string }> = {
  EVM: { id: "8453", address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  SVM: { id: "solana", address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" },
  TVM: { id: "tron", address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  BVM: { id: "bitcoin", address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
};

describe("parseAddress", () => {
  test.each(chainTypes)(
    "%s: rejects this family's address on chains of every other family",
    (chainType) => {
      const { id, address } = validAddresses[chainType];
      expect(getFamily(chainType).parseAddress(id, address)).toEqual({ address });
      for (const otherChainType of chainTypes) {
        if (otherChainType === chainType) continue;
        const { id: otherId } = validAddresses[otherChainType];
        expect(getFamily(otherChainType).parseAddress(otherId, address)).toHaveProperty("fault");
      }
    },
  );

  test("throws for an unknown Bitcoin network", () => {
    const { parseAddress } = getFamily("BVM");
    expect(() => parseAddress("bitcoin-testnet3", validAddresses.BVM.address)).toThrow(
      /not a Bitcoin network/,
    );
  });
});

test.each(chainTypes)("%s: an encoded transaction hash has the family's form", (chainType) => {
  const { encodeTransactionHash, transactionHashPattern } = getFamily(chainType);
  for (const byte of [0, 1, 255]) {
    const hash = encodeTransactionHash(new Uint8Array(64).fill(byte));
    expect(transactionHashPattern.exec(hash)?.[1]).toBe(hash);
  }
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

describe("needsAddressPerLink", () => {
  test("is known by the id of a chain, in accordance with its family", () => {
    for (const chainType of chainTypes) {
      const isNeeded = getFamily(chainType).linkAddresses !== undefined;
      expect(needsAddressPerLink(validAddresses[chainType].id)).toBe(isNeeded);
    }
    expect(needsAddressPerLink("bitcoin-testnet3")).toBe(false);
  });
});

describe("listWalletApps", () => {
  const listNames = (id: string, chainType: ChainType) =>
    listWalletApps({ id, chainType }).map(({ name }) => name);

  test("lists the apps that support a chain, in the order in which pages show them", () => {
    const evmApps = ["MetaMask", "Coinbase Wallet", "Trust Wallet", "OKX Wallet"];
    expect(listNames("8453", "EVM")).toEqual([...evmApps, "Phantom"]);
    expect(listNames("10", "EVM")).toEqual(evmApps);
    expect(listNames("solana", "SVM")).toEqual(["Phantom", "Solflare"]);
    expect(listNames("tron-nile", "TVM")).toEqual(["TronLink"]);
    expect(listNames("solana-devnet", "SVM")).toEqual([]);
    expect(listNames("bitcoin", "BVM")).toEqual([]);
  });
});
