import { expect, test } from "@jest/globals";
import { fromUnits, toUnits } from "./decimal.ts";

test.each([
  ["0", "0", "0"],
  ["0.1", "0.2", "0.3"],
  ["12345678901234567890.1", "0.000000000000000001", "12345678901234567890.100000000000000001"],
  ["99.99", "0.01", "100"],
])("%s plus %s is exactly %s", (left, right, sum) => {
  expect(fromUnits(toUnits(left) + toUnits(right))).toBe(sum);
});
