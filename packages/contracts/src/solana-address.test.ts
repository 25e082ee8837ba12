import { describe, expect, test } from "@jest/globals";
import { base58 } from "@scure/base";
import {
  address as kitAddress,
  getAddressDecoder,
  getAddressEncoder,
  isAddress,
} from "@solana/kit";
import fc from "fast-check";
import { keccak256Hex } from "./evm-address.ts";
import { readSolanaAddress, solanaReference } from "./solana-address.ts";
import { misspelt } from "./testing/misspelt.ts";
import { propertyRuns } from "./testing/property-runs.ts";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const decoder = getAddressDecoder();

describe("an address of Solana", () => {
  test("is what Solana's own library has, for random keys", () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        const address = decoder.decode(bytes);
        expect(base58.encode(bytes)).toBe(address);
        const expected = bytes.every((byte) => byte === 0) ? { fault: "unspendable" } : { address };
        expect(readSolanaAddress(address)).toEqual(expected);
      }),
      propertyRuns({ soak: 10_000 }),
    );
  });

  test("that is misspelt is refused wherever that library refuses it", () => {
    const addresses = bytes32.map((bytes) => decoder.decode(bytes));
    fc.assert(
      fc.property(misspelt(addresses), (typed) => {
        expect("address" in readSolanaAddress(typed)).toBe(isAddress(typed));
      }),
      propertyRuns({ soak: 10_000 }),
    );
  });

  test("may begin with zero bytes, each of them told", () => {
    for (let zeros = 1; zeros < 32; zeros += 1) {
      const bytes = new Uint8Array(32).fill(7).fill(0, 0, zeros);
      const address = base58.encode(bytes);
      expect(readSolanaAddress(address)).toEqual({ address });
      expect(readSolanaAddress(`1${address}`)).toEqual({ fault: "malformed" });
      expect(readSolanaAddress(address.slice(1))).toEqual({ fault: "malformed" });
    }
  });

  test("of the system program is nobody's", () => {
    expect(readSolanaAddress("1".repeat(32))).toEqual({ fault: "unspendable" });
  });
});

describe("the reference key of a link", () => {
  test("is the hash of its payment reference, as an address", () => {
    const paymentReference = "00112233445566778899aabbccddeeff";
    const reference = solanaReference(paymentReference);
    const bytes = getAddressEncoder().encode(kitAddress(reference));
    expect(`0x${Buffer.from(bytes).toString("hex")}`).toBe(keccak256Hex(paymentReference));
  });
});
