import { describe, expect, test } from "@jest/globals";
import { computeNextAttemptAt } from "./retry-schedule.ts";

const schedule = [0, 30, 300, 1_800, 7_200, 43_200].map((seconds) => seconds * 1000);
const endedAt = new Date("2026-11-21T10:00:00.000Z");
const waitMsAfter = (attempts: number, random: number, delaysMs = schedule): number | null => {
  const nextAttemptAt = computeNextAttemptAt(delaysMs, { attempts, endedAt, random });
  return nextAttemptAt === null ? null : nextAttemptAt.getTime() - endedAt.getTime();
};

describe("computeNextAttemptAt", () => {
  test("follows the schedule of rule HOOK-14 and ends after the sixth attempt", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempts) => waitMsAfter(attempts, 0));
    expect(waits).toEqual([30_000, 300_000, 1_800_000, 7_200_000, 43_200_000, null]);
  });

  test("adds less than the allowed 10% and never schedules earlier (rule HOOK-14)", () => {
    for (const attempts of [1, 2, 3, 4, 5]) {
      const minWaitMs = waitMsAfter(attempts, 0) ?? 0;
      const maxWaitMs = waitMsAfter(attempts, 1) ?? 0;
      expect(minWaitMs).toBe(schedule[attempts]);
      expect(maxWaitMs).toBeGreaterThan(minWaitMs);
      expect(maxWaitMs).toBeLessThanOrEqual(minWaitMs * 1.06);
    }
  });

  test("spreads retries of simultaneous failures evenly", () => {
    const failedCount = 3_600;
    const perSecond = new Map<number, number>();
    for (let index = 0; index < failedCount; index += 1) {
      const second = Math.floor((waitMsAfter(4, index / failedCount) ?? 0) / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    // The retries after a wait of two hours are spread over six minutes.
    expect(perSecond.size).toBe(360);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(failedCount / 360 + 1);
  });

  test("allows fewer attempts with a shorter schedule, and six at most with a longer one", () => {
    expect(waitMsAfter(2, 0, [0, 1_000])).toBeNull();
    expect(waitMsAfter(6, 0, [...schedule, 1_000])).toBeNull();
  });
});
