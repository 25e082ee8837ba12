import { expect, test } from "@jest/globals";
import { createConsumerPulse } from "./consumer-pulse.ts";

const seconds = 1_000;

/** A pulse at a time that the test moves. */
const openPulse = () => {
  let now = 0;
  const pulse = createConsumerPulse({ silenceMsMax: 60 * seconds, nowMs: () => now });
  const pass = (bySeconds: number) => void (now += bySeconds * seconds);
  /** Time passes, and the broker answers every five seconds of it. */
  const passAnswering = (bySeconds: number) => {
    for (let passed = 0; passed < bySeconds; passed += 5) {
      pass(5);
      pulse.brokerAnswered();
    }
  };
  return { ...pulse, pass, passAnswering };
};

test("a consumer is stalled once it was silent for 60 s while the broker answered", () => {
  const { pass, passAnswering, brokerAnswered, isStalled } = openPulse();
  brokerAnswered();
  passAnswering(55);
  pass(4.9);
  expect(isStalled()).toBe(false);
  pass(0.1);
  expect(isStalled()).toBe(true);
});

test("a consumer whose broker does not answer is never stalled", () => {
  const { pass, isStalled } = openPulse();
  pass(3_600);
  expect(isStalled()).toBe(false);
});

test("a broker that has just gone ends the stall: a restart would not bring it back", () => {
  const { passAnswering, brokerFailed, isStalled } = openPulse();
  passAnswering(90);
  expect(isStalled()).toBe(true);
  brokerFailed();
  expect(isStalled()).toBe(false);
});

test("a broker that returns gives its silent consumer 60 s to come back", () => {
  const { pass, passAnswering, brokerAnswered, brokerFailed, isStalled } = openPulse();
  passAnswering(50);
  pass(5);
  brokerFailed();
  pass(120);
  brokerAnswered();
  passAnswering(55);
  expect(isStalled()).toBe(false);
  passAnswering(5);
  expect(isStalled()).toBe(true);
});

test("an answer of the broker counts for 30 s, as a process that was frozen has older ones", () => {
  const { pass, passAnswering, brokerAnswered, isStalled } = openPulse();
  passAnswering(90);
  pass(30);
  expect(isStalled()).toBe(true);
  pass(0.1);
  expect(isStalled()).toBe(false);
  brokerAnswered();
  expect(isStalled()).toBe(false);
});

test("one sign of life ends the stall", () => {
  const { passAnswering, beat, isStalled } = openPulse();
  passAnswering(90);
  expect(isStalled()).toBe(true);
  beat();
  expect(isStalled()).toBe(false);
});
