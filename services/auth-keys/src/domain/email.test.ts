import { expect, test } from "@jest/globals";
import { computeRetryAt, emailAttemptsMax, emailLifetimeMs } from "./email.ts";

const dateCreated = new Date("2026-11-21T10:00:00.000Z");

/** Returns the delays in seconds if every attempt fails immediately. */
const listDelays = (random: () => number): number[] => {
  const delays: number[] = [];
  let now = dateCreated;
  for (let attempts = 1; ; attempts += 1) {
    const retryAt = computeRetryAt({ attempts, dateCreated }, { now, random });
    if (retryAt === undefined) return delays;
    delays.push((retryAt.getTime() - now.getTime()) / 1000);
    now = retryAt;
  }
};

test("an email has 7 attempts with growing delays (rule MAIL-4)", () => {
  expect(listDelays(() => 0)).toEqual([60, 300, 1_800, 7_200, 21_600, 43_200]);
  expect(emailAttemptsMax).toBe(7);
});

test("the latest delays are 10 % longer and end within 24 hours (rule MAIL-4)", () => {
  const delays = listDelays(() => 1);
  expect(delays[0]).toBeCloseTo(66);
  expect(delays).toHaveLength(6);
  expect(delays.reduce((sum, delay) => sum + delay, 0) * 1000).toBeLessThan(emailLifetimeMs);
});

test("an email is given up if its next attempt would be later than 24 hours (rule MAIL-4)", () => {
  const now = new Date(dateCreated.getTime() + emailLifetimeMs - 60_000);
  expect(computeRetryAt({ attempts: 1, dateCreated }, { now, random: () => 0 })).toBeUndefined();
});
