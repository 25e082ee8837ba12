import { describe, expect, test } from "@jest/globals";
import { isShortExpiryOnBitcoin, parseNewLink } from "./parse-new-link.ts";

const now = new Date("2026-11-21T10:00:00Z");

describe("the new link form", () => {
  test("parses all fields", () => {
    const fields = { toAmount: " 25.50 ", description: "Tea", maxUsage: "3", expiry: "3" };
    expect(parseNewLink(fields, "USDC", now)).toEqual({
      toAmount: "25.50",
      description: "Tea",
      maxUsage: 3,
      expirationDate: "2026-11-24T10:00:00.000Z",
    });
  });

  test("keeps every digit of the amount and omits empty fields", () => {
    const toAmount = "12345678901234567890.123456789012345678";
    expect(parseNewLink({ toAmount, expiry: "never" }, "USDC", now)).toEqual({ toAmount });
  });

  test.each(["", "0", "0.00", "-1", "1e3", "1,5", "0x10", "abc"])(
    "rejects the amount %j",
    (toAmount) => {
      expect(parseNewLink({ toAmount }, "USDC", now)).toBe("badAmount");
    },
  );

  test("warns of an expiry within 2 hours on Bitcoin, but not of a past or empty one", () => {
    const isShortExpiry = (expiresAt: string) => isShortExpiryOnBitcoin(expiresAt, now);
    expect(isShortExpiry("2026-11-21T10:15:00Z")).toBe(true);
    expect(isShortExpiry("2026-11-21T11:59:59Z")).toBe(true);
    expect(isShortExpiry("2026-11-21T12:00:00Z")).toBe(false);
    expect(isShortExpiry("2026-11-21T09:59:00Z")).toBe(false);
    expect(isShortExpiry("")).toBe(false);
  });

  test("accepts only expiry dates in the future", () => {
    const parseWithDate = (expiresAt: string) =>
      parseNewLink({ toAmount: "1", expiry: "date", expiresAt }, "USDC", now);
    expect(parseWithDate("2026-11-21T10:00:00Z")).toBe("pastDate");
    expect(parseWithDate("")).toBe("pastDate");
    expect(parseWithDate("2026-11-21T10:01:00Z")).toMatchObject({
      expirationDate: "2026-11-21T10:01:00.000Z",
    });
  });
});
