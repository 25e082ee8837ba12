/** The minimum time limit for everything that a test waits for. */
const hangLimitMsMin = 60_000;
const slowdownFactorMax = 10;

/**
 * Returns a time limit that only a hang exceeds: 10 times the duration on an idle machine, and at
 * least one minute. Slow machines stay below it.
 */
export const hangLimitMs = (idleMachineMs: number): number =>
  Math.max(hangLimitMsMin, idleMachineMs * slowdownFactorMax);

/**
 * A time limit for a child process that blocks the test's own process. Jest's limit cannot
 * interrupt such a test.
 */
export const commandMsMax = hangLimitMs(25_000);

/**
 * Marks a product timeout that must expire in the test, so it is short. If a response must arrive
 * in time, use `ampleTimeoutMs` instead.
 */
export const provokedTimeoutMs = (ms: number): number => ms;

/** A product timeout that must not expire, even on a busy machine. */
export const ampleTimeoutMs = 120_000;
