import { setTimeout } from "node:timers/promises";
import { type Pool, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, afterMs, startLoop } from "@payment-links/runtime";
import { leaseMsFor } from "../domain/delivery.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import {
  type Effects,
  type Input,
  createSchedule,
  isBusy,
  capacityForNewDeliveries,
  updateSchedule,
} from "../domain/schedule/schedule.ts";
import type { Destination, SlotLimits } from "../domain/schedule/slots.ts";
import { listWaitingEndpoints } from "../store/deliveries.ts";
import { releaseDeliveries } from "../store/ended-deliveries.ts";
import { type AttemptOutcome, outcomeFromError } from "./attempt/attempt-outcome.ts";
import type { Attempt } from "./attempt/make-attempt.ts";
import { type LeasedAttempt, claimAttempts } from "./claim-attempts.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { recordEndedAttempts } from "./record-ended-attempts.ts";
import { releaseLeasesWithRetry } from "./release-leases-with-retry.ts";
import { type ResultWriter, createResultWriter } from "./result-writer.ts";
import { startLeaseExpiry } from "./start-lease-expiry.ts";
import type { Targets } from "./targets.ts";

/** A leased delivery and where it goes. */
type RoutedAttempt = LeasedAttempt & { destination: Destination };

/** Sends what is due, as long as it runs. */
export type Dispatcher = {
  /**
   * How many new deliveries may be leased for each endpoint as they are opened; an endpoint that is
   * missing may have none.
   */
  capacityForNewDeliveries(destinations: readonly Destination[]): ReadonlyMap<string, number>;
  /** When the lease of a delivery that is opened now ends. */
  computeLeaseUntil(): Date;
  /**
   * Takes over deliveries that were just opened: the leased ones, and the places where others wait.
   */
  acceptDeliveries(
    leased: readonly RoutedAttempt[],
    waitingDestinations: readonly Destination[],
  ): void;
  /**
   * Ends once new deliveries could be sent from memory, or after a short time; then they wait in
   * the queue.
   */
  awaitCapacity(): Promise<void>;
  /** Stops beginning attempts that were leased for the endpoint: it was disabled or deleted. */
  stopEndpoint(endpointId: string): void;
  /**
   * Begins nothing further, and ends once the attempts under way are made and written. Called again, it
   * ends once what was opened meanwhile is given back.
   */
  stop(): Promise<void>;
};

type DispatcherOptions = SlotLimits & {
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

/**
 * How often to look for what other processes left or cannot manage; our own events ask for a look
 * themselves.
 */
const pollMs = 1_000;

/** How often to look for leases that have waited too long. */
const staleCheckMs = 250;

/**
 * How long hearing of more events waits while new deliveries would only pass through the queue, and
 * how often for one chunk: other accounts' events come behind it. Real time, not the clock's.
 */
const busyCheckMs = 5;
const busyChecksMax = 100;

/** Performs what the schedule decides, and reports back what came of it. */
type EffectRunner = {
  options: DispatcherOptions;
  writer: ResultWriter;
  applyInput: (input: Input<RoutedAttempt>) => Effects<RoutedAttempt>;
};

/**
 * Starts the dispatcher. Any number of dispatchers, in any number of processes, share one queue: a
 * delivery is leased to one at a time, and an attempt whose lease ran out counts as interrupted.
 */
export const startDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { clock, log, pool } = options;
  const state = createSchedule<RoutedAttempt>(options);
  const nowMs = (): number => clock.now().getTime();
  const inProgress = new Set<Promise<void>>();
  const trackWork = (work: Promise<void>): void => {
    const trackedWork = work.finally(() => inProgress.delete(trackedWork));
    inProgress.add(trackedWork);
  };
  const applyInput = (input: Input<RoutedAttempt>): Effects<RoutedAttempt> => {
    const atMs = nowMs();
    const effects = updateSchedule(state, input, atMs);
    for (const attempt of effects.attemptsToStart) trackWork(runAttempt(effectRunner, attempt));
    if (effects.leasesToRelease.length > 0)
      trackWork(releaseLeases(effectRunner, effects.leasesToRelease));
    if (effects.pollAtMs !== undefined && effects.pollAtMs <= atMs) pollLoop.wake();
    return effects;
  };
  const writer = createResultWriter({
    saveBatch: (batch) => transact(pool, (tx) => recordEndedAttempts(tx, batch, options)),
    onWritten: (count) => void applyInput({ kind: "written", count }),
    clock,
    log,
  });
  const effectRunner: EffectRunner = { options, writer, applyInput };

  const startJob = (name: string, waitMs: number, job: () => Promise<Date | void>): Loop =>
    startLoop({ name, clock, log, waitMs, run: job });
  const pollLoop = startJob("webhook sending", pollMs, () => pollQueue(effectRunner));
  const staleLeaseLoop = startJob(
    "webhook leases ahead",
    staleCheckMs,
    async () => void applyInput({ kind: "aged" }),
  );
  const leaseExpiryLoop = startLeaseExpiry({ ...options, onExpired: () => pollLoop.wake() });

  return {
    computeLeaseUntil: () => afterMs(clock, leaseMsFor(options.timeoutMs)),
    capacityForNewDeliveries: (destinations) =>
      capacityForNewDeliveries(state, destinations, nowMs()),
    acceptDeliveries: (leased, waiting) => void applyInput({ kind: "opened", leased, waiting }),
    awaitCapacity: () => waitWhileBusy(() => isBusy(state, nowMs())),
    stopEndpoint: (endpointId) => void applyInput({ kind: "left", endpointId }),
    stop: async () => {
      applyInput({ kind: "stopping" });
      await Promise.all([pollLoop.stop(), leaseExpiryLoop.stop(), staleLeaseLoop.stop()]);
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
};

/**
 * Looks for endpoints that have something due and room here, and claims it; answers when to look
 * again.
 */
const pollQueue = async ({ options, applyInput }: EffectRunner): Promise<Date | undefined> => {
  const { poll: queuePoll } = applyInput({ kind: "look" });
  if (queuePoll === undefined) return undefined;
  const waiting = await listWaitingEndpoints(options.pool, queuePoll);
  const { claim, pollAtMs } = applyInput({ kind: "found", poll: queuePoll, waiting });
  if (claim === undefined) return toDate(pollAtMs);
  const claimedAttempts = await claimAttempts(options, {
    now: new Date(claim.atMs),
    leaseUntil: new Date(claim.atMs + leaseMsFor(options.timeoutMs)),
    shares: claim.shares.map(({ destination, share }) => ({
      endpointId: destination.endpointId,
      share,
    })),
  });
  const destinationByEndpoint = new Map(
    claim.shares.map(({ destination }) => [destination.endpointId, destination]),
  );
  const leased = claimedAttempts.flatMap((attempt) => {
    const destination = destinationByEndpoint.get(attempt.delivery.endpointId);
    return destination === undefined ? [] : [{ ...attempt, destination }];
  });
  return toDate(applyInput({ kind: "claimed", claim, leased }).pollAtMs);
};

const toDate = (atMs: number | undefined): Date | undefined =>
  atMs === undefined ? undefined : new Date(atMs);

/** Makes one attempt and writes how it ended. */
const runAttempt = async (
  { options, writer, applyInput }: EffectRunner,
  { destination, delivery, attempt, leaseUntil }: RoutedAttempt,
): Promise<void> => {
  const { clock, metrics } = options;
  const { id: deliveryId, eventId, endpointId, occurredAt, attempts } = delivery;
  const startedAt = clock.now();
  const startedMs = clock.elapsedMs();
  if (attempts === 1) metrics.observeFirstAttemptDelay(occurredAt);
  // There is no attempt if something of ours is missing.
  const outcome = await (attempt === null
    ? outcomeFromError(undefined)
    : options.makeAttempt(attempt));
  metrics.countAttempt(outcome.kind);
  const durationMs = Math.round(clock.elapsedMs() - startedMs);
  const attemptTimes = { startedAt, endedAt: clock.now(), durationMs, leaseUntil };
  const ended = { deliveryId, eventId, endpointId, occurredAt, attempts, ...attemptTimes, outcome };
  const written = writer.write(ended);
  applyInput({ kind: "ended", destination, hasResponse: outcome.httpStatus !== null });
  await written;
};

const releaseLeases = (
  { options: { pool, clock, log }, applyInput }: EffectRunner,
  attempts: readonly RoutedAttempt[],
): Promise<void> => {
  const releaseNow = async (leases: readonly RoutedAttempt[]) => {
    const lockedLeases = await transact(pool, (tx) => releaseDeliveries(tx, leases, clock.now()));
    const lockedSet = new Set(lockedLeases);
    const released = leases.filter((lease) => !lockedSet.has(lease));
    applyInput({ kind: "givenBack", destinations: released.map(({ destination }) => destination) });
    return lockedLeases;
  };
  return releaseLeasesWithRetry({ releaseLeases: releaseNow, clock, log }, attempts);
};

const waitWhileBusy = async (isBusyNow: () => boolean): Promise<void> => {
  for (let checks = 0; checks < busyChecksMax && isBusyNow(); checks += 1)
    await setTimeout(busyCheckMs);
};
