import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FakeClock, createFakeClock } from "@payment-links/runtime";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";

let clock: FakeClock;
let circuitBreaker: CircuitBreaker;
let openStates: boolean[];
beforeEach(() => {
  clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  openStates = [];
  circuitBreaker = createCircuitBreaker({
    clock,
    cooldownMs: 1_000,
    cooldownMsMax: 8_000,
    probeMsMax: 500,
    random: () => 1,
    onChange: (isOpen) => openStates.push(isOpen),
  });
});

const recordFailures = (times: number) => {
  for (let failureIndex = 0; failureIndex < times; failureIndex += 1)
    circuitBreaker.recordFailure();
};
const getRemainingCooldownMs = () => circuitBreaker.remainingCooldownMs();

describe("createCircuitBreaker", () => {
  test("opens after three failures in a row, not after two, and closes after one success", () => {
    recordFailures(2);
    expect(circuitBreaker.canRequest()).toBe(true);
    circuitBreaker.recordFailure();
    expect(circuitBreaker.canRequest()).toBe(false);
    circuitBreaker.recordSuccess();
    expect(circuitBreaker.canRequest()).toBe(true);
    recordFailures(2);
    expect(circuitBreaker.canRequest()).toBe(true);
    expect(openStates).toEqual([true, false]);
  });

  test("allows one probe at a time after the cooldown", () => {
    recordFailures(3);
    clock.advance(999);
    expect(circuitBreaker.canRequest()).toBe(false);
    clock.advance(1);
    expect(circuitBreaker.canRequest()).toBe(true);
    expect(circuitBreaker.canRequest()).toBe(false);
    clock.advance(500);
    expect(circuitBreaker.canRequest()).toBe(true);
  });

  test("doubles the cooldown with each failed probe, up to the maximum", () => {
    recordFailures(3);
    const cooldownsMs = [getRemainingCooldownMs()];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      circuitBreaker.recordFailure();
      cooldownsMs.push(getRemainingCooldownMs());
    }
    expect(cooldownsMs).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  test("grants a requested pause at the first failure, up to the maximum", () => {
    circuitBreaker.recordFailure({ atLeastMs: 5_000 });
    expect(getRemainingCooldownMs()).toBe(5_000);
    circuitBreaker.recordFailure({ atLeastMs: 86_400_000 });
    expect(getRemainingCooldownMs()).toBe(8_000);
  });

  test("jitters cooldowns, but never below half", () => {
    circuitBreaker = createCircuitBreaker({
      clock,
      cooldownMs: 1_000,
      cooldownMsMax: 8_000,
      probeMsMax: 1,
      random: () => 0,
    });
    recordFailures(3);
    expect(getRemainingCooldownMs()).toBe(500);
  });

  test("does not extend the cooldown when the system clock is set back", () => {
    recordFailures(3);
    clock.setBack(3_600_000);
    clock.advance(1_000);
    expect(circuitBreaker.canRequest()).toBe(true);
  });
});
