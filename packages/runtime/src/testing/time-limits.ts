/** The shortest limit for what a test waits for. */
const hangLimitMsMin = 60_000;
const slowdownFactorMax = 10;

/**
 * Returns an upper bound for a duration that only a hang exceeds: ten times what a quiet machine
 * needs, and at least a minute. A slow machine stays below it.
 */
export const hangLimitMs = (idleMachineMs: number): number =>
  Math.max(hangLimitMsMin, idleMachineMs * slowdownFactorMax);

/** A limit for a child process that blocks the test's own process: Jest's limit cannot end that. */
export const commandMsMax = hangLimitMs(25_000);

/**
 * Marks a time-out of the product that the test wants to expire, so it is short. Where an answer must
 * come in time, use `ampleTimeoutMs` instead.
 */
export const provokedTimeoutMs = (ms: number): number => ms;

/** A time-out of the product that must not expire, however busy the machine is. */
export const ampleTimeoutMs = 120_000;
