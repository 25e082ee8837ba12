import { expect, test } from "@jest/globals";
import { findFreePorts } from "./free-port.ts";

test("a port that was found is not found again soon, though nothing listens there: a test may open it later", async () => {
  const ports: number[] = [];
  for (let round = 0; round < 200; round += 1) ports.push(...(await findFreePorts(2)));
  expect(new Set(ports).size).toBe(ports.length);
});
