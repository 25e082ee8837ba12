import { describe, expect, test } from "@jest/globals";
import { getFamily } from "./families.ts";
import { keccak256Hex } from "./keccak.ts";

describe("computeReferenceHash", () => {
  const paymentReference = "00112233445566778899aabbccddeeff";
  const link = {
    paymentReference,
    destinationAddress: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  };

  test.each(["EVM", "TVM", "SVM"] as const)(
    "%s: hashes the link's payment reference",
    (chainType) => {
      expect(getFamily(chainType).computeReferenceHash(link)).toBe(keccak256Hex(paymentReference));
    },
  );

  test("BVM: hashes the text of the link's own address", () => {
    const text = Buffer.from(link.destinationAddress, "utf8").toString("hex");
    expect(getFamily("BVM").computeReferenceHash(link)).toBe(keccak256Hex(text));
    expect(getFamily("BVM").computeReferenceHash(link)).not.toBe(keccak256Hex(paymentReference));
  });
});
