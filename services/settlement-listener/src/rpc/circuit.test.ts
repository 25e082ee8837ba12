import { beforeEach, describe, expect, test } from "@jest/globals";
import { type HeldClock, createHeldClock } from "@payment-links/runtime";
import { type Circuit, createCircuit } from "./circuit.ts";

let clock: HeldClock;
let circuit: Circuit;
let changes: boolean[];
beforeEach(() => {
  clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  changes = [];
  circuit = createCircuit({
    clock,
    restMs: 1_000,
    restMsMax: 8_000,
    tryMs: 500,
    random: () => 1,
    onChange: (isOpen) => changes.push(isOpen),
  });
});

const failTimes = (times: number) => {
  for (let failed = 0; failed < times; failed += 1) circuit.fail();
};
const restMs = () => circuit.restMs();

describe("a provider's circuit", () => {
  test("two failures in a row do not open it, three do; one success closes it", () => {
    failTimes(2);
    expect(circuit.mayAsk()).toBe(true);
    circuit.fail();
    expect(circuit.mayAsk()).toBe(false);
    circuit.succeed();
    expect(circuit.mayAsk()).toBe(true);
    failTimes(2);
    expect(circuit.mayAsk()).toBe(true);
    expect(changes).toEqual([true, false]);
  });

  test("after its rest one question may try it, and no other at the same time", () => {
    failTimes(3);
    clock.advance(999);
    expect(circuit.mayAsk()).toBe(false);
    clock.advance(1);
    expect(circuit.mayAsk()).toBe(true);
    expect(circuit.mayAsk()).toBe(false);
    clock.advance(500);
    expect(circuit.mayAsk()).toBe(true);
  });

  test("each failed try doubles the rest, up to its maximum", () => {
    failTimes(3);
    const rests = [restMs()];
    for (let tried = 0; tried < 5; tried += 1) {
      circuit.fail();
      rests.push(restMs());
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  test("a wish to be left alone is granted at the first failure, within the maximum", () => {
    circuit.fail({ atLeastMs: 5_000 });
    expect(restMs()).toBe(5_000);
    circuit.fail({ atLeastMs: 86_400_000 });
    expect(restMs()).toBe(8_000);
  });

  test("rests are jittered, never below half", () => {
    circuit = createCircuit({ clock, restMs: 1_000, restMsMax: 8_000, tryMs: 1, random: () => 0 });
    failTimes(3);
    expect(restMs()).toBe(500);
  });

  test("rests no longer where the machine's clock is set back", () => {
    failTimes(3);
    clock.setBack(3_600_000);
    clock.advance(1_000);
    expect(circuit.mayAsk()).toBe(true);
  });
});
