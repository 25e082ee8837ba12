import { describe, expect, test } from "@jest/globals";
import { base58 } from "@scure/base";
import {
  address as kitAddress,
  getAddressDecoder,
  getAddressEncoder,
  isAddress,
} from "@solana/kit";
import fc from "fast-check";
import { keccak256Hex } from "../keccak.ts";
import { parseSolanaAddress } from "./address.ts";
import { deriveSolanaReference } from "./payment-reference.ts";
import { misspellings } from "../testing/misspellings.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const addressDecoder = getAddressDecoder();

describe("parseSolanaAddress", () => {
  test("agrees with Solana's own library for random keys", () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        const address = addressDecoder.decode(bytes);
        expect(base58.encode(bytes)).toBe(address);
        const expected = bytes.every((byte) => byte === 0) ? { fault: "unspendable" } : { address };
        expect(parseSolanaAddress(address)).toEqual(expected);
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("rejects a misspelled address whenever that library rejects it", () => {
    const addresses = bytes32.map((bytes) => addressDecoder.decode(bytes));
    fc.assert(
      fc.property(misspellings(addresses), (input) => {
        expect("address" in parseSolanaAddress(input)).toBe(isAddress(input));
      }),
      getPropertyRunOptions({ soak: 10_000 }),
    );
  });

  test("accepts leading zero bytes and counts each of them", () => {
    for (let zeroCount = 1; zeroCount < 32; zeroCount += 1) {
      const bytes = new Uint8Array(32).fill(7).fill(0, 0, zeroCount);
      const address = base58.encode(bytes);
      expect(parseSolanaAddress(address)).toEqual({ address });
      expect(parseSolanaAddress(`1${address}`)).toEqual({ fault: "malformed" });
      expect(parseSolanaAddress(address.slice(1))).toEqual({ fault: "malformed" });
    }
  });

  test("rejects the system program's address, whose funds no one can spend", () => {
    expect(parseSolanaAddress("1".repeat(32))).toEqual({ fault: "unspendable" });
  });
});

describe("deriveSolanaReference", () => {
  test("returns the hash of the payment reference, as an address", () => {
    const paymentReference = "00112233445566778899aabbccddeeff";
    const reference = deriveSolanaReference(paymentReference);
    const bytes = getAddressEncoder().encode(kitAddress(reference));
    expect(`0x${Buffer.from(bytes).toString("hex")}`).toBe(keccak256Hex(paymentReference));
  });
});
