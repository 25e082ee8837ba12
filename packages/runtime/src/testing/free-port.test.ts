import { expect, test } from "@jest/globals";
import { findFreePorts } from "./free-port.ts";

test("a port that was found is not found again soon, though nothing listens there: a test may open it later", async () => {
  const found: number[] = [];
  for (let count = 0; count < 200; count += 1) found.push(...(await findFreePorts(2)));
  expect(new Set(found).size).toBe(found.length);
});
