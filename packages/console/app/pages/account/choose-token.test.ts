import { describe, expect, test } from "@jest/globals";
import type { CatalogueEntry } from "../../api/operations.ts";
import { isWrongAddress, preselect } from "./choose-token.ts";

const entry = (id: string, chain: Partial<CatalogueEntry["token"]["chain"]>, isStablecoin = true) =>
  ({ id, token: { isStablecoin, chain: { chainType: "EVM", ...chain } } }) as CatalogueEntry;

const tokens = [
  entry("usdc-ethereum", { id: "1" }),
  entry("eth-base", { id: "8453" }, false),
  entry("usdc-base", { id: "8453" }),
];

describe("the token that a wallet's form begins with", () => {
  test("is a stablecoin of a chain that is paid here", () => {
    expect(preselect(tokens, new Set(["8453"]))?.id).toBe("usdc-base");
  });
  test("is none where no chain of any token is paid here", () => {
    expect(preselect(tokens, new Set())).toBeUndefined();
    expect(preselect(tokens, new Set(["10"]))).toBeUndefined();
  });
});

test("an address is checked as it is typed, where its form is known", () => {
  const [evm] = tokens;
  expect(isWrongAddress("0x12", evm)).toBe(true);
  expect(isWrongAddress("vitalik.eth", evm)).toBe(true);
  expect(isWrongAddress(`0x${"aB".repeat(20)}`, evm)).toBe(false);
  expect(isWrongAddress("", evm)).toBe(false);
  expect(isWrongAddress("Tabc", entry("usdt-tron", { chainType: "TVM" }))).toBe(false);
});
