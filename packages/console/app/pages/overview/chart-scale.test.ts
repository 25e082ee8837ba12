import { expect, test } from "@jest/globals";
import { computeTicks, pickLabels } from "./chart-scale.ts";

test.each([
  [0, [0, 1]],
  [Number.NaN, [0, 1]],
  [1, [0, 0.5, 1]],
  [0.3, [0, 0.1, 0.2, 0.3]],
  [0.000_12, [0, 0.000_05, 0.000_1, 0.000_15]],
  [139.75, [0, 50, 100, 150]],
  [200, [0, 50, 100, 150, 200]],
  [201, [0, 100, 200, 300]],
  [1e21, [0, 5e20, 1e21]],
])("the grid lines for a maximum of %d are %j", (maximum, ticks) => {
  expect(computeTicks(maximum)).toEqual(ticks);
});

test.each([
  [7, 7, [0, 1, 2, 3, 4, 5, 6]],
  [7, 4, [0, 2, 4, 6]],
  [30, 5, [5, 11, 17, 23, 29]],
  [3, 0, [2]],
])("of %d days with room for %d labels, %j are labeled", (count, labelsMax, labeled) => {
  expect(pickLabels(count, labelsMax)).toEqual(labeled);
});
