import { setTimeout as sleep } from "node:timers/promises";

/**
 * Why a test waits for a fixed time. The delay is an input of the test: without it, the test would
 * check something else. If a test waits for a result, use `waitUntil` instead.
 */
export type DelayPurpose =
  /** A peer sends or responds late. */
  | "slow peer"
  /** A handler or a statement is slow. */
  | "slow work"
  /** A user's pause between two actions, chosen by a seed. */
  | "human pause"
  /** The time between two calls of a load test. */
  | "load pace"
  /** How long a fault or an outage lasts. */
  | "fault duration"
  /** The product guarantees something after this time. */
  | "promised time"
  /**
   * Something must not happen during this time. A slow machine can hide a failure here, but it
   * cannot cause one.
   */
  | "quiet period";

/** Waits for a fixed time as an input of the test. The wait does not keep the process alive. */
export const injectDelay = (_purpose: DelayPurpose, ms: number): Promise<void> =>
  sleep(ms, undefined, { ref: false });

/** Blocks this process's event loop. */
export const blockEventLoop = (ms: number): void => {
  const deadlineMs = performance.now() + ms;
  while (performance.now() < deadlineMs) continue;
};
