import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { TronWeb } from "tronweb";
import { readTronAddress, tronFromHex, tronToHex } from "./tron-address.ts";
import { misspelt } from "./testing/misspelt.ts";
import { propertyRuns } from "./testing/property-runs.ts";

const usdt = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const bytes20 = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));

describe("an address of Tron", () => {
  test("goes to hex and back as TronWeb has it, for random addresses", () => {
    fc.assert(
      fc.property(bytes20, (hex) => {
        const address = TronWeb.address.fromHex(`41${hex}`);
        expect(tronFromHex(hex)).toBe(address);
        expect(tronFromHex(`0x${hex.toUpperCase()}`)).toBe(address);
        expect(tronFromHex(`41${hex}`)).toBe(address);
        expect(`41${tronToHex(address).slice(2)}`).toBe(TronWeb.address.toHex(address));
        expect(readTronAddress(address)).toEqual({ address });
      }),
      propertyRuns({ soak: 10_000 }),
    );
  });

  test("that is misspelt is refused wherever TronWeb refuses it", () => {
    fc.assert(
      fc.property(misspelt(bytes20.map((hex) => tronFromHex(hex))), (typed) => {
        expect("address" in readTronAddress(typed)).toBe(
          typed.startsWith("T") && TronWeb.isAddress(typed),
        );
      }),
      propertyRuns({ soak: 10_000 }),
    );
  });

  test("tells what is wrong with it", () => {
    expect(readTronAddress(`${usdt.slice(0, -1)}u`)).toEqual({ fault: "checksum" });
    expect(readTronAddress(tronFromHex("00".repeat(20)))).toEqual({ fault: "unspendable" });
    expect(readTronAddress("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")).toEqual({ fault: "malformed" });
  });

  test("is none where hex has another length, or text no checksum", () => {
    for (const hex of ["", "0x", "ab".repeat(19), "ab".repeat(22), `0x41${"ab".repeat(20)}`]) {
      expect(() => tronFromHex(hex)).toThrow("no address");
    }
    for (const text of [
      "",
      usdt.toLowerCase(),
      `${usdt} `,
      "T".repeat(34),
      "T".repeat(1_000_000),
    ]) {
      expect(() => tronToHex(text)).toThrow("no address");
    }
  });
});
