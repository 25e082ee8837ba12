import { expect, test } from "@jest/globals";
import { createIdempotencyKeys } from "./idempotency-keys.ts";

test("returns the same key for the same body, and other keys for another body or form", () => {
  const idempotencyKeys = createIdempotencyKeys();
  const key = idempotencyKeys.keyFor({ toAmount: "25" });
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(idempotencyKeys.keyFor({ toAmount: "25" })).toBe(key);
  const otherKey = idempotencyKeys.keyFor({ toAmount: "26" });
  expect(otherKey).not.toBe(key);
  expect(createIdempotencyKeys().keyFor({ toAmount: "26" })).not.toBe(otherKey);
});
