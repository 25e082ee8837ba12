import { type Clock, afterMs } from "@payment-links/runtime";

/** Whether a provider may be asked, judged by how it has answered. */
export type Circuit = {
  /** True while the provider may be asked; after a rest, only one question at a time may try it. */
  mayAsk(): boolean;
  /** When the provider may be asked again; undefined while it may be asked. */
  restsUntil(): Date | undefined;
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
  let restsUntil: Date | undefined;

  const set = (until: Date | undefined) => {
    const wasOpen = restsUntil !== undefined;
    restsUntil = until;
    if (wasOpen !== (until !== undefined)) settings.onChange?.(!wasOpen);
  };

  return {
    mayAsk: () => {
      if (restsUntil === undefined) return true;
      if (restsUntil > clock.now()) return false;
      restsUntil = afterMs(clock, tryMs);
      return true;
    },
    restsUntil: () => restsUntil,
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
      set(afterMs(clock, Math.min(Math.max(grownMs, rest?.atLeastMs ?? 0), restMsMax)));
    },
  };
};
