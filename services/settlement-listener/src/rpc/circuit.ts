import type { Clock } from "@payment-links/runtime";

/** Whether a provider may be asked, judged by how it has answered. */
export type Circuit = {
  /** True while the provider may be asked; after a rest, only one question at a time may try it. */
  mayAsk(): boolean;
  /** In how many milliseconds the provider may be asked again; 0 while it may be asked. */
  restMs(): number;
  succeed(): void;
  /**
   * Counts a failure. The provider rests after several failures in a row, or if it asked for a
   * pause.
   */
  fail(rest?: { atLeastMs: number }): void;
};

export type CircuitSettings = {
  clock: Clock;
  /** The first rest; each further failure doubles it up to `restMsMax`. */
  restMs: number;
  restMsMax: number;
  /** How long a question that tries a rested provider may take before another one may. */
  tryMs: number;
  random?: () => number;
  onChange?: (isOpen: boolean) => void;
};

const failuresToOpen = 3;
const doublingsMax = 16;

/**
 * A circuit for one provider, closed at first. Rests are jittered, so that many watchers do not
 * come back at once.
 */
export const createCircuit = (settings: CircuitSettings): Circuit => {
  const { clock, restMs, restMsMax, tryMs } = settings;
  const random = settings.random ?? Math.random;
  let failures = 0;
  let restsUntilMs: number | undefined;

  const set = (untilMs: number | undefined) => {
    const wasOpen = restsUntilMs !== undefined;
    restsUntilMs = untilMs;
    if (wasOpen !== (untilMs !== undefined)) settings.onChange?.(!wasOpen);
  };

  return {
    mayAsk: () => {
      if (restsUntilMs === undefined) return true;
      if (restsUntilMs > clock.elapsedMs()) return false;
      restsUntilMs = clock.elapsedMs() + tryMs;
      return true;
    },
    restMs: () => Math.max(0, (restsUntilMs ?? 0) - clock.elapsedMs()),
    succeed: () => {
      failures = 0;
      set(undefined);
    },
    fail: (rest) => {
      failures += 1;
      if (rest === undefined && failures < failuresToOpen) return;
      const doublings = Math.min(
        failures - (rest === undefined ? failuresToOpen : 1),
        doublingsMax,
      );
      const grownMs = Math.min(restMs * 2 ** doublings, restMsMax) * (0.5 + random() / 2);
      set(clock.elapsedMs() + Math.min(Math.max(grownMs, rest?.atLeastMs ?? 0), restMsMax));
    },
  };
};
