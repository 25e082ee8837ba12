import { describe, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { hashSecret, isApiKey, generateApiKey, apiKeyPrefixLength } from "./api-key.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("generateApiKey (rule CALLER-2)", () => {
  test.each(["live", "test"] as const)(
    "generates a valid %s key in the documented format",
    (mode) => {
      const key = generateApiKey(mode);
      expect(key).toMatch(new RegExp(`^plk_${mode}_[0-9A-Za-z]{36}$`));
      expect(isApiKey(key)).toBe(true);
    },
  );

  test("draws each of the 62 characters with equal frequency", () => {
    const counts = new Map<string, number>();
    const keyCount = 4000;
    for (let index = 0; index < keyCount; index += 1) {
      const random = generateApiKey("live").slice("plk_live_".length, -6);
      for (const character of random) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (keyCount * 30) / base62.length;
    const squares = [...base62].map(
      (character) => ((counts.get(character) ?? 0) - expected) ** 2 / expected,
    );
    // Chi-square with 61 degrees of freedom: a fair generator exceeds 128 in one of a million runs.
    expect(squares.reduce((sum, square) => sum + square)).toBeLessThan(128);
  });
});

describe("isApiKey (rule CALLER-2)", () => {
  test("uses the published checksum: the CRC-32 in base62, most significant digit first", () => {
    // Computed with another implementation: the CRC-32 of the key without its checksum is
    // 0x142a545a.
    expect(isApiKey(`plk_test_${"0".repeat(30)}0MtY4o`)).toBe(true);
  });

  test("rejects a key in which any one character was changed", () => {
    const character = fc.constantFrom(...base62, "_", "-", " ");
    fc.assert(
      fc.property(fc.nat({ max: 44 }), character, (position, replacement) => {
        const key = generateApiKey("live");
        fc.pre(key[position] !== replacement);
        expect(isApiKey(key.slice(0, position) + replacement + key.slice(position + 1))).toBe(
          false,
        );
      }),
      getPropertyRunOptions({ soak: 5_000 }),
    );
  });

  test("rejects a key with two adjacent characters swapped, one removed, or one added", () => {
    const key = generateApiKey("live");
    for (let position = 0; position < key.length; position += 1) {
      const [a = "", b = ""] = [key[position], key[position + 1]];
      const swapped = key.slice(0, position) + b + a + key.slice(position + 2);
      if (a !== b && b !== "") expect(isApiKey(swapped)).toBe(false);
      expect(isApiKey(key.slice(0, position) + key.slice(position + 1))).toBe(false);
      expect(isApiKey(`${key.slice(0, position)}0${key.slice(position)}`)).toBe(false);
    }
  });

  test.each([
    "",
    "plk_live_",
    "plk_prod_",
    `${generateApiKey("live")}\n`,
    ` ${generateApiKey("live")}`,
  ])("rejects %j", (text) => {
    expect(isApiKey(text)).toBe(false);
  });
});

describe("storage of an API key", () => {
  test("hashes the key with SHA-256 (rule CALLER-2)", () => {
    const key = generateApiKey("test");
    expect(hashSecret(key)).toEqual(createHash("sha256").update(key, "utf8").digest());
  });

  test("shows the key's prefix and four of its random characters", () => {
    expect(apiKeyPrefixLength).toBe("plk_live_".length + 4);
  });
});
