import { describe, expect, test } from "@jest/globals";
import { hasValidEip55, isEvmAddress, toEip55 } from "./address.ts";

// The test vectors of EIP-55.
const vectors = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0xde709f2102306220921060314715629080e2fb77",
  "0x27b1fdb04752bbc536007a920d24acb045561c26",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

describe("EIP-55", () => {
  test.each(vectors)("converts any casing to %s and accepts it (rule API-24)", (address) => {
    expect(toEip55(address.toLowerCase())).toBe(address);
    expect(toEip55(`0x${address.slice(2).toUpperCase()}`)).toBe(address);
    expect(hasValidEip55(address)).toBe(true);
  });

  test("rejects a mixed-case address with one letter in the wrong case", () => {
    expect(hasValidEip55("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed")).toBe(false);
  });

  test("accepts an address in a single case, which has no checksum", () => {
    expect(hasValidEip55("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")).toBe(true);
    expect(hasValidEip55("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED")).toBe(true);
  });
});

describe("isEvmAddress", () => {
  const digits = "52908400098527886E0F7030069857D2E4169EE7";
  test.each([
    ["", false],
    [digits, false],
    [`0x${digits}`, true],
    [`0x${digits.toLowerCase()}`, true],
    [`0X${digits}`, false],
    [`0x${digits}0`, false],
    [`0x${digits.slice(1)}`, false],
    [`0x${digits.slice(1)}g`, false],
    [`0x${digits}\n`, false],
  ])("given %j, returns %s", (text, isAddress) => {
    expect(isEvmAddress(text)).toBe(isAddress);
  });
});
