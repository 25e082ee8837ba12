import { expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { createRequestDrain } from "./request-drain.ts";

test("whoever called while the process was held up is heard before it leaves", async () => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const requestDrain = createRequestDrain(clock);
  let isQuiet = false;
  const quietWait = requestDrain.waitUntilQuiet(100).then(() => (isQuiet = true));
  const requestRecorded = new Promise<void>((resolve) => {
    setImmediate(() => {
      requestDrain.recordRequest();
      resolve();
    });
  });
  clock.advance(100);
  await requestRecorded;
  // As long as the wait itself takes to look again.
  await new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
  expect(isQuiet).toBe(false);
  clock.advance(100);
  await quietWait;
});
