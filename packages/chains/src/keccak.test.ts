import { expect, test } from "@jest/globals";
import { keccak256Hex } from "./keccak.ts";

test("keccak256Hex computes Keccak-256 rather than SHA3-256, with or without 0x", () => {
  const emptyHash = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
  expect(keccak256Hex("0x")).toBe(emptyHash);
  expect(keccak256Hex("")).toBe(emptyHash);
});
