/** The minimum limit for anything that a test waits for. */
const hangLimitMsMin = 60_000;
const slowdownFactorMax = 10;

/**
 * Returns an upper bound for a duration that only a hang exceeds: 10 times what an idle machine
 * needs, and at least one minute. A slow machine stays below it.
 */
export const hangLimitMs = (idleMachineMs: number): number =>
  Math.max(hangLimitMsMin, idleMachineMs * slowdownFactorMax);

/**
 * A limit for a child process that blocks the test's own process, which Jest's limit cannot
 * interrupt.
 */
export const commandMsMax = hangLimitMs(25_000);

/**
 * Marks a product timeout that the test wants to expire, so it is short. If a response must arrive
 * in time, use `ampleTimeoutMs` instead.
 */
export const provokedTimeoutMs = (ms: number): number => ms;

/** A product timeout that must not expire, however busy the machine is. */
export const ampleTimeoutMs = 120_000;
