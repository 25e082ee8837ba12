import { describe, expect, test } from "@jest/globals";
import type { CatalogueEntry } from "../../api/operations.ts";
import { isInvalidAddress, selectDefaultToken } from "./select-default-token.ts";

const createEntry = (
  id: string,
  chain: Partial<CatalogueEntry["token"]["chain"]>,
  isStablecoin = true,
) => ({ id, token: { isStablecoin, chain: { chainType: "EVM", ...chain } } }) as CatalogueEntry;

const tokens = [
  createEntry("usdc-ethereum", { id: "1" }),
  createEntry("eth-base", { id: "8453" }, false),
  createEntry("usdc-base", { id: "8453" }),
];

describe("the token that a wallet's form begins with", () => {
  test("is a stablecoin of a chain that is paid here", () => {
    expect(selectDefaultToken(tokens, new Set(["8453"]))?.id).toBe("usdc-base");
  });
  test("is none where no chain of any token is paid here", () => {
    expect(selectDefaultToken(tokens, new Set())).toBeUndefined();
    expect(selectDefaultToken(tokens, new Set(["10"]))).toBeUndefined();
  });
});

test("an address is checked as it is typed, where its form is known", () => {
  const [evmToken] = tokens;
  expect(isInvalidAddress("0x12", evmToken)).toBe(true);
  expect(isInvalidAddress("vitalik.eth", evmToken)).toBe(true);
  expect(isInvalidAddress(`0x${"aB".repeat(20)}`, evmToken)).toBe(false);
  expect(isInvalidAddress("", evmToken)).toBe(false);
  expect(isInvalidAddress("Tabc", createEntry("usdt-tron", { chainType: "TVM" }))).toBe(false);
});
