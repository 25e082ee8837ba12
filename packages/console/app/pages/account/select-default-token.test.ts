import { describe, expect, test } from "@jest/globals";
import type { CatalogueEntry } from "../../api/operations.ts";
import { isInvalidAddress, selectDefaultToken } from "./select-default-token.ts";

const createEntry = (
  id: string,
  chain: Partial<CatalogueEntry["token"]["chain"]>,
  isStablecoin = true,
) => ({ id, token: { isStablecoin, chain }, walletForm: "hex_address" }) as CatalogueEntry;

const tokens = [
  createEntry("usdc-ethereum", { id: "1" }),
  createEntry("eth-base", { id: "8453" }, false),
  createEntry("usdc-base", { id: "8453" }),
];

describe("selectDefaultToken", () => {
  test("returns a stablecoin on a supported chain", () => {
    expect(selectDefaultToken(tokens, new Set(["8453"]))?.id).toBe("usdc-base");
  });
  test("returns nothing when no token is on a supported chain", () => {
    expect(selectDefaultToken(tokens, new Set())).toBeUndefined();
    expect(selectDefaultToken(tokens, new Set(["10"]))).toBeUndefined();
  });
});

test("isInvalidAddress checks addresses on chains with a known format", () => {
  const [evmToken] = tokens;
  expect(isInvalidAddress("0x12", evmToken)).toBe(true);
  expect(isInvalidAddress("vitalik.eth", evmToken)).toBe(true);
  expect(isInvalidAddress(`0x${"aB".repeat(20)}`, evmToken)).toBe(false);
  expect(isInvalidAddress("", evmToken)).toBe(false);
  expect(isInvalidAddress("Tabc", { ...createEntry("usdt-tron", {}), walletForm: "address" })).toBe(
    false,
  );
});
