import { expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { createRequestDrain } from "./request-drain.ts";

test("waits for a request that arrived while the process was blocked", async () => {
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
  // Waits as long as the drain itself waits before it checks again.
  await new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
  expect(isQuiet).toBe(false);
  clock.advance(100);
  await quietWait;
});
