import { expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { createLateCallers } from "./late-callers.ts";

test("whoever called while the process was held up is heard before it leaves", async () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const lateCallers = createLateCallers(clock);
  let hasLeft = false;
  const leaving = lateCallers.left(100).then(() => (hasLeft = true));
  const heard = new Promise<void>((resolve) => {
    setImmediate(() => {
      lateCallers.called();
      resolve();
    });
  });
  clock.advance(100);
  await heard;
  // As long as the wait itself takes to look again.
  await new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
  expect(hasLeft).toBe(false);
  clock.advance(100);
  await leaving;
});
