import { expect, test } from "@jest/globals";
import { compareAmounts } from "./compare-amounts.ts";

test.each([
  ["25", "25", 0],
  ["25", "25.00", 0],
  ["9", "10", -1],
  ["0.1", "0.09", 1],
  ["0.30000000000000004", "0.3", 1],
  ["0", "0.000000000000000001", -1],
  // As JavaScript numbers, these two are equal.
  ["9007199254740993", "9007199254740992", 1],
  ["1".padEnd(79, "0"), "9".padEnd(78, "9"), 1],
])("compares %s with %s and returns %d", (left, right, expected) => {
  expect(compareAmounts(left, right)).toBe(expected);
});

test.each<unknown>([0.3, 25n, null])("rejects %p, which is not a string", (invalidAmount) => {
  expect(() => compareAmounts(invalidAmount as string, "1")).toThrow(RangeError);
});

test.each(["", "-1", "1e3", "0x10", " 1", "1 ", "1.", ".5", "1,5", "NaN", "١"])(
  "rejects %p on either side",
  (text) => {
    expect(() => compareAmounts(text, "1")).toThrow(RangeError);
    expect(() => compareAmounts("1", text)).toThrow(RangeError);
  },
);
