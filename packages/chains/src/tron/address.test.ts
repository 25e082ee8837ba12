import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { TronWeb } from "tronweb";
import { parseTronAddress, tronAddressFromHex, tronAddressToHex } from "./address.ts";
import { misspellings } from "../testing/misspellings.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const usdt = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const bytes20 = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));

describe("a Tron address", () => {
  test("converts to hex and back like TronWeb, for random addresses", () => {
    fc.assert(
      fc.property(bytes20, (hex) => {
        const address = TronWeb.address.fromHex(`41${hex}`);
        expect(tronAddressFromHex(hex)).toBe(address);
        expect(tronAddressFromHex(`0x${hex.toUpperCase()}`)).toBe(address);
        expect(tronAddressFromHex(`41${hex}`)).toBe(address);
        expect(`41${tronAddressToHex(address).slice(2)}`).toBe(TronWeb.address.toHex(address));
        expect(parseTronAddress(address)).toEqual({ address });
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("is rejected if it is misspelled and TronWeb rejects it", () => {
    fc.assert(
      fc.property(misspellings(bytes20.map((hex) => tronAddressFromHex(hex))), (input) => {
        expect("address" in parseTronAddress(input)).toBe(
          input.startsWith("T") && TronWeb.isAddress(input),
        );
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("is rejected with the reason", () => {
    expect(parseTronAddress(`${usdt.slice(0, -1)}u`)).toEqual({ fault: "checksum" });
    expect(parseTronAddress(tronAddressFromHex("00".repeat(20)))).toEqual({ fault: "unspendable" });
    expect(parseTronAddress("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")).toEqual({ fault: "malformed" });
  });

  test("is rejected if its hex has another length or its text has no valid checksum", () => {
    for (const hex of ["", "0x", "ab".repeat(19), "ab".repeat(22), `0x41${"ab".repeat(20)}`]) {
      expect(() => tronAddressFromHex(hex)).toThrow("not a 20-byte address");
    }
    for (const text of [
      "",
      usdt.toLowerCase(),
      `${usdt} `,
      "T".repeat(34),
      "T".repeat(1_000_000),
    ]) {
      expect(() => tronAddressToHex(text)).toThrow("not a Tron address");
    }
  });
});
