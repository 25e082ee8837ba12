import { expect, test } from "@jest/globals";
import { createConsumerLiveness } from "./consumer-liveness.ts";

const msPerSecond = 1_000;

/** A pulse at a time that the test moves. */
const createTestLiveness = () => {
  let nowMs = 0;
  const liveness = createConsumerLiveness({
    silenceMsMax: 60 * msPerSecond,
    getNowMs: () => nowMs,
  });
  const advanceSeconds = (seconds: number) => void (nowMs += seconds * msPerSecond);
  /** Time passes, and the broker answers every five seconds of it. */
  const advanceWithBrokerResponses = (seconds: number) => {
    for (let elapsedSeconds = 0; elapsedSeconds < seconds; elapsedSeconds += 5) {
      advanceSeconds(5);
      liveness.recordBrokerResponse();
    }
  };
  return { ...liveness, advanceSeconds, advanceWithBrokerResponses };
};

test("a consumer is stalled once it was silent for 60 s while the broker answered", () => {
  const { advanceSeconds, advanceWithBrokerResponses, recordBrokerResponse, isStalled } =
    createTestLiveness();
  recordBrokerResponse();
  advanceWithBrokerResponses(55);
  advanceSeconds(4.9);
  expect(isStalled()).toBe(false);
  advanceSeconds(0.1);
  expect(isStalled()).toBe(true);
});

test("a consumer whose broker does not answer is never stalled", () => {
  const { advanceSeconds, isStalled } = createTestLiveness();
  advanceSeconds(3_600);
  expect(isStalled()).toBe(false);
});

test("a broker that has just gone ends the stall: a restart would not bring it back", () => {
  const { advanceWithBrokerResponses, recordBrokerFailure, isStalled } = createTestLiveness();
  advanceWithBrokerResponses(90);
  expect(isStalled()).toBe(true);
  recordBrokerFailure();
  expect(isStalled()).toBe(false);
});

test("a broker that returns gives its silent consumer 60 s to come back", () => {
  const {
    advanceSeconds,
    advanceWithBrokerResponses,
    recordBrokerResponse,
    recordBrokerFailure,
    isStalled,
  } = createTestLiveness();
  advanceWithBrokerResponses(50);
  advanceSeconds(5);
  recordBrokerFailure();
  advanceSeconds(120);
  recordBrokerResponse();
  advanceWithBrokerResponses(55);
  expect(isStalled()).toBe(false);
  advanceWithBrokerResponses(5);
  expect(isStalled()).toBe(true);
});

test("an answer of the broker counts for 30 s, as a process that was frozen has older ones", () => {
  const { advanceSeconds, advanceWithBrokerResponses, recordBrokerResponse, isStalled } =
    createTestLiveness();
  advanceWithBrokerResponses(90);
  advanceSeconds(30);
  expect(isStalled()).toBe(true);
  advanceSeconds(0.1);
  expect(isStalled()).toBe(false);
  recordBrokerResponse();
  expect(isStalled()).toBe(false);
});

test("one sign of life ends the stall", () => {
  const { advanceWithBrokerResponses, recordActivity, isStalled } = createTestLiveness();
  advanceWithBrokerResponses(90);
  expect(isStalled()).toBe(true);
  recordActivity();
  expect(isStalled()).toBe(false);
});
