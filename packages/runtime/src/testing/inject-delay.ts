import { setTimeout as sleep } from "node:timers/promises";

/**
 * Why a test lets time pass. Each is an input of the test: without it, the test would test something
 * else. A test that waits for a result uses `waitUntil`.
 */
export type DelayPurpose =
  /** A peer sends or answers late. */
  | "slow peer"
  /** A handler or a statement takes its time. */
  | "slow work"
  /** A person's pause between 2 actions, drawn from a seed. */
  | "human pause"
  /** The time between 2 calls of a load. */
  | "load pace"
  /** How long a fault or an outage lasts. */
  | "fault duration"
  /** The product promises something from this time on. */
  | "promised time"
  /** Nothing may happen during this time; a slow machine can only hide a fault, not report one. */
  | "quiet period";

/** Lets time pass as an input of the test. It does not keep the process alive. */
export const injectDelay = (_purpose: DelayPurpose, ms: number): Promise<void> =>
  sleep(ms, undefined, { ref: false });

/** Keeps this process busy, so that its event loop is late for everything else. */
export const blockEventLoop = (ms: number): void => {
  const deadlineMs = performance.now() + ms;
  while (performance.now() < deadlineMs) continue;
};
