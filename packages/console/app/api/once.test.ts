import { expect, test } from "@jest/globals";
import { createOnce } from "./once.ts";

test("the same order has the same key, another one and another form another", () => {
  const once = createOnce();
  const key = once.keyFor({ toAmount: "25" });
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(once.keyFor({ toAmount: "25" })).toBe(key);
  const other = once.keyFor({ toAmount: "26" });
  expect(other).not.toBe(key);
  expect(createOnce().keyFor({ toAmount: "26" })).not.toBe(other);
});
