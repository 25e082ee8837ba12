import { expect, test } from "@jest/globals";
import { getLinkProgress } from "./progress.ts";

test.each([
  ["0", "30", 0, "30", undefined],
  ["12.5", "30", 41, "17.5", undefined],
  ["29.999999999999999999", "30", 99, "0.000000000000000001", undefined],
  ["30", "30", 100, undefined, undefined],
  ["35.5", "30", 100, undefined, "5.5"],
  ["12345678901234567890.2", "12345678901234567890.1", 100, undefined, "0.1"],
])(
  "%s received of %s is %d percent, with %s missing and %s over",
  (receivedAmount, toAmount, percent, missingAmount, excessAmount) => {
    expect(getLinkProgress({ receivedAmount, toAmount })).toEqual({
      percent,
      missingAmount,
      excessAmount,
    });
  },
);
