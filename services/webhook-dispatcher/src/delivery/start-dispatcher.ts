import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, afterMs, startLoop } from "@payment-links/runtime";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import { listWaitingEndpoints, lockLapsed } from "../store/deliveries.ts";
import { type AttemptOutcome, interruptedOutcome, outcomeOfError } from "./attempt-outcome.ts";
import { type ClaimedAttempt, claimAttempts } from "./claim-attempts.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endAttempts } from "./end-attempts.ts";
import type { Attempt } from "./make-attempt.ts";
import { createResultWriter } from "./result-writer.ts";
import { type Place, type SlotBounds, createSlots } from "./slots.ts";
import type { Targets } from "./targets.ts";

/** Sends what is due, as long as it runs. */
export type Dispatcher = {
  /** Says that there may be something due now. */
  wake(): void;
  /** Claims nothing further, and ends once the attempts under way are made and written. */
  stop(): Promise<void>;
};

type DispatcherOptions = SlotBounds & {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: DeliveryMetrics;
  targets: Targets;
  makeAttempt: (attempt: Attempt) => Promise<AttemptOutcome>;
  schedule: RetrySchedule;
  random: () => number;
  timeoutMs: number;
};

/** A lease outlives the longest attempt by this much: for slow writes, and clocks that differ. */
const leaseMarginMs = 20_000;

/** How often to look for what other processes left or cannot manage; our own events wake us. */
const pollMs = 1_000;

/** What is due and could not be claimed is in another process's claim, for a moment. */
const contendedWaitMs = 50;

const lapsedMax = 200;

/**
 * Starts the dispatcher. Any number of them, in any number of processes, share one queue: a delivery is
 * leased to one at a time, and an attempt whose lease ran out counts as interrupted.
 */
export const startDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { pool, clock, log, schedule, random } = options;
  const slots = createSlots(options);
  const underWay = new Set<Promise<void>>();
  const writer = createResultWriter({
    keep: (batch) => pool.transaction((tx) => endAttempts(tx, batch, { schedule, random })),
    clock,
    log,
  });

  const run = async (claimed: ClaimedAttempt): Promise<void> => {
    const { delivery, leaseUntil } = claimed;
    if (delivery.attempts === 1) options.metrics.timeFirstAttempt(delivery.occurredAt);
    const outcome = await attemptOf(options, claimed);
    options.metrics.countAttempt(outcome.kind);
    const { id: deliveryId, eventId, endpointId, occurredAt, attempts } = delivery;
    const place = { deliveryId, eventId, endpointId, occurredAt };
    await writer.write({ ...place, attempts, endedAt: clock.now(), leaseUntil, outcome });
  };

  const begin = (claimed: ClaimedAttempt, place: Place): void => {
    slots.take(place);
    const ending = run(claimed).finally(() => {
      underWay.delete(ending);
      slots.release(place);
      sending.wake();
    });
    underWay.add(ending);
  };

  const claim = async (now: Date, places: readonly Place[]): Promise<number> => {
    const turns = slots.share(places);
    const placeOf = new Map(turns.map(({ place }) => [place.endpointId, place]));
    const claimed = await claimAttempts(options, {
      now,
      leaseUntil: new Date(now.getTime() + options.timeoutMs + leaseMarginMs),
      turns: turns.map(({ place, share }) => ({ endpointId: place.endpointId, share })),
    });
    for (const one of claimed) {
      const place = placeOf.get(one.delivery.endpointId);
      if (place !== undefined) begin(one, place);
    }
    return claimed.length;
  };

  const sending = startLoop({
    name: "webhook sending",
    clock,
    log,
    waitMs: pollMs,
    run: async () => {
      // An attempt that ends frees its slot and wakes this.
      if (slots.free() === 0) return undefined;
      const now = clock.now();
      const waiting = await listWaitingEndpoints(pool, {
        limit: slots.free(),
        without: slots.full(),
      });
      const due = waiting.filter(({ dueAt }) => dueAt <= now);
      if (due.length === 0) return waiting[0]?.dueAt;
      return (await claim(now, due)) > 0 || afterMs(clock, contendedWaitMs);
    },
  });

  const lapsing = startLapsing(options, () => sending.wake());

  return {
    wake: () => sending.wake(),
    stop: async () => {
      await Promise.all([sending.stop(), lapsing.stop()]);
      await Promise.all(underWay);
    },
  };
};

const attemptOf = async (
  { makeAttempt }: DispatcherOptions,
  { attempt }: ClaimedAttempt,
): Promise<AttemptOutcome> => (attempt === null ? outcomeOfError(undefined) : makeAttempt(attempt));

/** Calls attempts interrupted whose process went away, and lets them follow the schedule. */
const startLapsing = (
  { pool, clock, log, metrics, schedule, random }: DispatcherOptions,
  onLapsed: () => void,
) =>
  startLoop({
    name: "webhook leases",
    clock,
    log,
    waitMs: pollMs,
    run: async () => {
      const now = clock.now();
      const lapsed = await pool.transaction(async (tx) => {
        const locked = await lockLapsed(tx, { now, limit: lapsedMax });
        if (locked.length === 0) return locked;
        const ended = locked.map(({ id, leaseUntil, ...rest }) => ({
          ...rest,
          deliveryId: id,
          leaseUntil,
          // When it truly ended nobody knows; not after its lease.
          endedAt: leaseUntil,
          outcome: interruptedOutcome,
        }));
        await endAttempts(tx, ended, { schedule, random });
        return locked;
      });
      for (const _ of lapsed) metrics.countAttempt(interruptedOutcome.kind);
      if (lapsed.length > 0) onLapsed();
      return lapsed.length === lapsedMax;
    },
  });
