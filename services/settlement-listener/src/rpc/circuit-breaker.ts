import type { Clock } from "@payment-links/runtime";

/** Whether a provider may be asked, judged by how it has answered. */
export type CircuitBreaker = {
  /** True while the provider may be asked; after a rest, only one question at a time may try it. */
  canRequest(): boolean;
  /** In how many milliseconds the provider may be asked again; 0 while it may be asked. */
  remainingCooldownMs(): number;
  recordSuccess(): void;
  /**
   * Counts a failure. The provider rests after several failures in a row, or if it asked for a
   * pause.
   */
  recordFailure(cooldown?: { atLeastMs: number }): void;
};

export type CircuitBreakerSettings = {
  clock: Clock;
  /** The first rest; each further failure doubles it up to `cooldownMsMax`. */
  cooldownMs: number;
  cooldownMsMax: number;
  /** How long a question that tries a rested provider may take before another one may. */
  probeMsMax: number;
  random?: () => number;
  onChange?: (isOpen: boolean) => void;
};

const failuresToOpen = 3;
const doublingsMax = 16;

/**
 * A circuit for one provider, closed at first. Rests are jittered, so that many watchers do not
 * come back at once.
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
