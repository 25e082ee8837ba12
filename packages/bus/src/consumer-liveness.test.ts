import { expect, test } from "@jest/globals";
import { createConsumerLiveness } from "./consumer-liveness.ts";

const msPerSecond = 1_000;

/** Creates a liveness tracker with a clock that the test controls. */
const createTestLiveness = () => {
  let nowMs = 0;
  const liveness = createConsumerLiveness({
    silenceMsMax: 60 * msPerSecond,
    getNowMs: () => nowMs,
  });
  const advanceSeconds = (seconds: number) => void (nowMs += seconds * msPerSecond);
  /** Advances the clock in steps of 5 s, with a broker response after each step. */
  const advanceWithBrokerResponses = (seconds: number) => {
    for (let elapsedSeconds = 0; elapsedSeconds < seconds; elapsedSeconds += 5) {
      advanceSeconds(5);
      liveness.recordBrokerResponse();
    }
  };
  return { ...liveness, advanceSeconds, advanceWithBrokerResponses };
};

test("a consumer is stalled after 60 s of silence while the broker responds", () => {
  const { advanceSeconds, advanceWithBrokerResponses, recordBrokerResponse, isStalled } =
    createTestLiveness();
  recordBrokerResponse();
  advanceWithBrokerResponses(55);
  advanceSeconds(4.9);
  expect(isStalled()).toBe(false);
  advanceSeconds(0.1);
  expect(isStalled()).toBe(true);
});

test("a consumer is never stalled while its broker does not respond", () => {
  const { advanceSeconds, isStalled } = createTestLiveness();
  advanceSeconds(3_600);
  expect(isStalled()).toBe(false);
});

test("a broker failure clears the stall, because a restart would not help", () => {
  const { advanceWithBrokerResponses, recordBrokerFailure, isStalled } = createTestLiveness();
  advanceWithBrokerResponses(90);
  expect(isStalled()).toBe(true);
  recordBrokerFailure();
  expect(isStalled()).toBe(false);
});

test("a silent consumer gets 60 s to recover after its broker returns", () => {
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

test("a broker response is valid for 30 s, so a process that was frozen is not stalled", () => {
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

test("a single sign of activity clears the stall", () => {
  const { advanceWithBrokerResponses, recordActivity, isStalled } = createTestLiveness();
  advanceWithBrokerResponses(90);
  expect(isStalled()).toBe(true);
  recordActivity();
  expect(isStalled()).toBe(false);
});
