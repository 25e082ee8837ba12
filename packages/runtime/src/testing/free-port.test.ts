import { expect, test } from "@jest/globals";
import { findFreePorts } from "./free-port.ts";

test("findFreePorts does not soon return the same port again, even if it is still closed", async () => {
  const ports: number[] = [];
  for (let round = 0; round < 200; round += 1) ports.push(...(await findFreePorts(2)));
  expect(new Set(ports).size).toBe(ports.length);
});
