import type { Clock } from "@payment-links/runtime";

/** Tracks a provider's recent failures and decides whether to send it requests. */
export type CircuitBreaker = {
  /** Returns whether to send a request now. After a cooldown, it allows one probe at a time. */
  canRequest(): boolean;
  /** Returns the milliseconds until the next request is allowed. 0 if it is allowed now. */
  remainingCooldownMs(): number;
  recordSuccess(): void;
  /**
   * Records a failure. The cooldown starts after several failures in a row, or immediately if the
   * provider asked for a pause.
   */
  recordFailure(cooldown?: { atLeastMs: number }): void;
};

export type CircuitBreakerSettings = {
  clock: Clock;
  /** The first cooldown. Each further failure doubles it, up to `cooldownMsMax`. */
  cooldownMs: number;
  cooldownMsMax: number;
  /** How long to wait for a probe's result before another probe is allowed. */
  probeMsMax: number;
  random?: () => number;
  onChange?: (isOpen: boolean) => void;
};

const failuresToOpen = 3;
const doublingsMax = 16;

/**
 * Creates a circuit breaker for one provider. It is closed at first. Cooldowns have jitter, so that
 * many watchers do not return at the same time.
 */
export const createCircuitBreaker = (settings: CircuitBreakerSettings): CircuitBreaker => {
  const { clock, cooldownMs, cooldownMsMax, probeMsMax } = settings;
  const random = settings.random ?? Math.random;
  let failureCount = 0;
  let openUntilMs: number | undefined;

  const setOpenUntil = (untilMs: number | undefined) => {
    const wasOpen = openUntilMs !== undefined;
    openUntilMs = untilMs;
    if (wasOpen !== (untilMs !== undefined)) settings.onChange?.(!wasOpen);
  };

  return {
    canRequest: () => {
      if (openUntilMs === undefined) return true;
      if (openUntilMs > clock.elapsedMs()) return false;
      openUntilMs = clock.elapsedMs() + probeMsMax;
      return true;
    },
    remainingCooldownMs: () => Math.max(0, (openUntilMs ?? 0) - clock.elapsedMs()),
    recordSuccess: () => {
      failureCount = 0;
      setOpenUntil(undefined);
    },
    recordFailure: (cooldown) => {
      failureCount += 1;
      if (cooldown === undefined && failureCount < failuresToOpen) return;
      const doublings = Math.min(
        failureCount - (cooldown === undefined ? failuresToOpen : 1),
        doublingsMax,
      );
      const backoffMs = Math.min(cooldownMs * 2 ** doublings, cooldownMsMax) * (0.5 + random() / 2);
      setOpenUntil(
        clock.elapsedMs() + Math.min(Math.max(backoffMs, cooldown?.atLeastMs ?? 0), cooldownMsMax),
      );
    },
  };
};
