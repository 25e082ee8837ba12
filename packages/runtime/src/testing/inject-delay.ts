import { setTimeout as sleep } from "node:timers/promises";

/**
 * Why a test waits for a fixed time. Each delay is an input: without it, the test would cover
 * something else. A test that waits for a result uses `waitUntil`.
 */
export type DelayPurpose =
  /** A peer sends or responds late. */
  | "slow peer"
  /** A handler or a statement is slow. */
  | "slow work"
  /** A user's pause between 2 actions, drawn from a seed. */
  | "human pause"
  /** The time between 2 calls of a load test. */
  | "load pace"
  /** How long a fault or an outage lasts. */
  | "fault duration"
  /** The product guarantees something from this time on. */
  | "promised time"
  /** Nothing may happen during this time. A slow machine can only hide a failure, not cause one. */
  | "quiet period";

/** Waits for a fixed time as an input of the test, without keeping the process alive. */
export const injectDelay = (_purpose: DelayPurpose, ms: number): Promise<void> =>
  sleep(ms, undefined, { ref: false });

/** Blocks this process's event loop. */
export const blockEventLoop = (ms: number): void => {
  const deadlineMs = performance.now() + ms;
  while (performance.now() < deadlineMs) continue;
};
