import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, startLoop } from "@payment-links/runtime";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import { giveBackDeliveries } from "../store/deliveries.ts";
import type { AnswerRates } from "./answer-rates.ts";
import { type AttemptOutcome, outcomeOfError } from "./attempt-outcome.ts";
import type { ClaimedAttempt } from "./claim-attempts.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endAttempts } from "./end-attempts.ts";
import type { Attempt } from "./make-attempt.ts";
import type { ReadyQueue } from "./ready-queue.ts";
import { createResultWriter } from "./result-writer.ts";
import type { Place, Slots } from "./slots.ts";

/** A leased delivery and where it goes. */
export type PlacedAttempt = ClaimedAttempt & { place: Place };

/** Makes the attempts of what this process has leased, each as soon as there is a slot for it. */
export type Sender = {
  /** Takes over what was leased; once it is stopping, it gives it back. */
  accept(leased: readonly PlacedAttempt[]): void;
  /** Begins no further attempt that was leased for the endpoint before. */
  leave(endpointId: string): void;
  /** Whether results wait in such numbers that nothing further begins. */
  isClogged(): boolean;
  /** Begins nothing further, and ends once the attempts under way are made and written. */
  stop(): Promise<void>;
};

export type SenderOptions = {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: DeliveryMetrics;
  makeAttempt: (attempt: Attempt) => Promise<AttemptOutcome>;
  schedule: RetrySchedule;
  random: () => number;
  slots: Slots;
  ready: ReadyQueue<PlacedAttempt>;
  rates: AnswerRates;
  /** A slot is free again, or a result was written. */
  onFreed: () => void;
  /** Leases were given back: something waits there again. */
  onGivenBack: (place: Place) => void;
};

const staleWaitMs = 250;
const unwrittenMax = 1_000;

/** Starts the sender. */
export const startSender = (options: SenderOptions): Sender => {
  const { pool, clock, log, metrics, slots, ready, rates, onFreed } = options;
  const underWay = new Set<Promise<void>>();
  let isStopping = false;
  const writer = createResultWriter({
    keep: (batch) => pool.transaction((tx) => endAttempts(tx, batch, options)),
    clock,
    log,
  });
  const isClogged = (): boolean => writer.waitingCount() >= unwrittenMax;

  const follow = (work: Promise<void>): void => {
    const ending = work.finally(() => underWay.delete(ending));
    underWay.add(ending);
  };

  const beginReady = (): void => {
    while (!isClogged()) {
      const next = ready.takeNext((place) => slots.hasRoom(place));
      if (next === undefined) return;
      slots.take(next.place);
      follow(run(next));
    }
  };

  const run = async ({ place, delivery, attempt, leaseUntil }: PlacedAttempt): Promise<void> => {
    const { id: deliveryId, eventId, endpointId, occurredAt, attempts } = delivery;
    const startedAt = clock.now();
    if (attempts === 1) metrics.timeFirstAttempt(occurredAt);
    // Without an attempt something of ours is missing.
    const outcome =
      attempt === null ? outcomeOfError(undefined) : await options.makeAttempt(attempt);
    metrics.countAttempt(outcome.kind);
    slots.release(place);
    if (outcome.httpStatus !== null) rates.answered(endpointId);
    const times = { startedAt, endedAt: clock.now(), leaseUntil };
    const ended = { deliveryId, eventId, endpointId, occurredAt, attempts, ...times, outcome };
    const written = writer.write(ended);
    const wasClogged = isClogged();
    freed();
    await written;
    if (wasClogged) freed();
  };

  const freed = (): void => {
    if (!isStopping) beginReady();
    onFreed();
  };

  const giveBack = (items: readonly PlacedAttempt[]): void => {
    if (items.length > 0) follow(giveBackLeases(options, items));
  };

  const staling = startLoop({
    name: "webhook leases ahead",
    clock,
    log,
    waitMs: staleWaitMs,
    run: async () => giveBack(ready.takeStale()),
  });

  return {
    isClogged,
    accept: (leased) => {
      for (const one of leased) ready.add(one);
      if (isStopping) giveBack(ready.takeAll());
      else beginReady();
    },
    leave: (endpointId) => giveBack(ready.takeAll(endpointId)),
    stop: async () => {
      isStopping = true;
      await staling.stop();
      giveBack(ready.takeAll());
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

/** Where it fails, the leases run out, and the attempts count as interrupted. */
const giveBackLeases = async (
  { pool, clock, log, onGivenBack }: SenderOptions,
  items: readonly PlacedAttempt[],
): Promise<void> => {
  const leases = items.map(({ delivery }) => delivery);
  try {
    await pool.transaction((tx) => giveBackDeliveries(tx, leases, clock.now()));
    for (const { place } of items) onGivenBack(place);
  } catch (error) {
    log.error({ err: error, leases: leases.length }, "leases could not be given back; they lapse");
  }
};
