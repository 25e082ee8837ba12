import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type Pool, transact } from "@payment-links/postgres";
import {
  type Clock,
  type Log,
  type Loop,
  type Metrics,
  afterMs,
  startLoop,
} from "@payment-links/runtime";
import type { Attempt } from "../domain/attempt.ts";
import { leaseMsFor } from "../domain/delivery.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import {
  type Claim,
  type Effects,
  type Input,
  createSchedule,
  isBusy,
  capacityForNewDeliveries,
  updateSchedule,
} from "../domain/schedule/schedule.ts";
import type { Destination, SlotLimits } from "../domain/schedule/slots.ts";
import type { HostOverrides } from "../guard/host-overrides.ts";
import type { Resolve } from "../guard/resolver.ts";
import { claimDeliveries, listWaitingEndpoints } from "../store/deliveries.ts";
import { releaseDeliveries } from "../store/ended-deliveries.ts";
import { findLinks } from "../store/links.ts";
import { outcomeFromError } from "./attempt/attempt-outcome.ts";
import { createDeadlines } from "./attempt/deadlines.ts";
import { type AttemptResult, makeAttempt } from "./attempt/make-attempt.ts";
import { createTransport } from "./attempt/transport.ts";
import { type DeliveryMetrics, createDeliveryMetrics } from "./delivery-metrics.ts";
import { recordEndedAttempts } from "./record-ended-attempts.ts";
import { releaseLeasesWithRetry } from "./release-leases-with-retry.ts";
import { type ResultWriter, createResultWriter } from "./result-writer.ts";
import { startLeaseExpiry } from "./start-lease-expiry.ts";
import { type Targets, prepareAttempts } from "./prepare-attempts.ts";

/** Sends due deliveries between its start and its stop. */
export type Dispatcher = {
  /** Starts to look for due deliveries, and to end the leases of processes that died. */
  start(): void;
  /**
   * Returns how many new deliveries may be leased per endpoint when they are created. An endpoint
   * that is not in the result gets none.
   */
  capacityForNewDeliveries(destinations: readonly Destination[]): ReadonlyMap<string, number>;
  /** Returns when the lease of a delivery created now ends. */
  computeLeaseUntil(): Date;
  /** Sends newly created deliveries that are leased to this process. */
  sendLeased(leased: readonly Attempt[]): void;
  /** Records that deliveries to these destinations wait in the queue, and polls for them. */
  noteQueued(destinations: readonly Destination[]): void;
  /**
   * Waits until new deliveries can be sent from memory, but only for a short time. Otherwise the
   * deliveries are queued.
   */
  awaitCapacity(): Promise<void>;
  /**
   * Releases the leased attempts of an endpoint that have not started, because the endpoint was
   * disabled or deleted.
   */
  stopEndpoint(endpointId: string): void;
  /**
   * Stops starting attempts. Resolves when the attempts in progress have ended and are recorded. A
   * second call also waits until the deliveries that were leased after the first call are released.
   * Closes all connections.
   */
  stop(): Promise<void>;
};

type DispatcherOptions = SlotLimits & {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  targets: Targets;
  resolve: Resolve;
  overrides: HostOverrides;
  overrideCa?: string;
  headerPrefix: string;
  schedule: RetrySchedule;
  random: () => number;
  hasNotifications: boolean;
  timeoutMs: number;
};

/**
 * How often to poll for due deliveries. Polling finds deliveries that other processes created but
 * cannot send, for example because they died. Events that this process handles trigger a poll
 * directly.
 */
const pollMs = 1_000;

/** How often to check for leased attempts that have waited too long for a slot. */
const staleCheckMs = 250;

/**
 * How often, and how many times, to check whether there is capacity before processing a chunk of
 * events. While there is none, new deliveries would only go through the queue. The number of checks
 * is limited because events of other accounts wait too. This is real time, not the time of `clock`.
 */
const busyCheckMs = 5;
const busyChecksMax = 100;

/** Executes the effects of the schedule and passes the results back to it as inputs. */
type EffectRunner = {
  options: DispatcherOptions;
  metrics: DeliveryMetrics;
  makeAttempt: (attempt: Parameters<typeof makeAttempt>[1]) => Promise<AttemptResult>;
  writer: ResultWriter;
  /** The requests of first attempts whose deliveries are not known to be stored, by their ids. */
  firstRequests: LRUCache<string, Promise<EndedRequest>>;
  applyInput: (input: Input<Attempt>) => Effects<Attempt>;
};

/**
 * Creates the dispatcher. Any number of dispatchers, in any number of processes, share one queue.
 * Each delivery is leased to one of them at a time, and an attempt counts as interrupted when its
 * lease expires.
 */
export const createDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { clock, log, pool, timeoutMs } = options;
  const metrics = createDeliveryMetrics(options);
  const transport = createTransport({
    ...options,
    connectionsMax: options.slotsMax,
    connectTimeoutMs: timeoutMs,
  });
  const attemptOptions = { ...options, transport, deadlines: createDeadlines(clock, timeoutMs) };
  // First attempts start in the trace and the transaction of their event, which end before them.
  const runOutsideEvents = AsyncLocalStorage.snapshot();
  let loops: readonly Loop[] = [];
  let pollLoop: Loop | undefined;
  const state = createSchedule<Attempt>(options);
  const nowMs = (): number => clock.now().getTime();
  const inProgress = new Set<Promise<void>>();
  const trackWork = (work: Promise<void>): void => {
    const trackedWork = work.finally(() => inProgress.delete(trackedWork));
    inProgress.add(trackedWork);
  };
  const applyInput = (input: Input<Attempt>): Effects<Attempt> => {
    const atMs = nowMs();
    const effects = updateSchedule(state, input, atMs);
    for (const attempt of effects.attemptsToStart)
      trackWork(runOutsideEvents(() => runAttempt(effectRunner, attempt)));
    if (effects.leasesToRelease.length > 0)
      trackWork(releaseLeases(effectRunner, effects.leasesToRelease));
    if (effects.pollAtMs !== undefined && effects.pollAtMs <= atMs) pollLoop?.wake();
    return effects;
  };
  const writer = createResultWriter({
    ...options,
    saveBatch: (batch) => transact(pool, (tx) => recordEndedAttempts(tx, batch, options)),
    onWritten: (count) => void applyInput({ kind: "written", count }),
  });
  const effectRunner: EffectRunner = {
    options,
    metrics,
    makeAttempt: (attempt) => metrics.trackInProgress(() => makeAttempt(attemptOptions, attempt)),
    writer,
    firstRequests: new LRUCache({ max: options.slotsMax * 2 }),
    applyInput,
  };
  const startJob = (name: string, waitMs: number, job: () => Promise<Date | void>): Loop =>
    startLoop({ name, clock, log, waitMs, run: job });

  return {
    start: () => {
      pollLoop = startJob("webhook sending", pollMs, () => pollQueue(effectRunner));
      const staleLeaseLoop = startJob(
        "stale webhook leases",
        staleCheckMs,
        async () => void applyInput({ kind: "aged" }),
      );
      const onExpired = () => pollLoop?.wake();
      loops = [pollLoop, staleLeaseLoop, startLeaseExpiry({ ...options, metrics, onExpired })];
    },
    computeLeaseUntil: () => afterMs(clock, leaseMsFor(timeoutMs)),
    capacityForNewDeliveries: (destinations) =>
      capacityForNewDeliveries(state, destinations, nowMs()),
    sendLeased: (leased) => void applyInput({ kind: "leased", leased }),
    noteQueued: (destinations) => void applyInput({ kind: "queued", destinations }),
    awaitCapacity: () => waitWhileBusy(() => isBusy(state, nowMs())),
    stopEndpoint: (endpointId) => void applyInput({ kind: "left", endpointId }),
    stop: async () => {
      applyInput({ kind: "stopping" });
      await Promise.all(loops.map((loop) => loop.stop()));
      while (inProgress.size > 0) await Promise.all(inProgress);
      await transport.close();
    },
  };
};

/**
 * Finds endpoints with due deliveries and free slots, and claims deliveries for them. Returns when
 * to poll next.
 */
const pollQueue = async ({ options, applyInput }: EffectRunner): Promise<Date | undefined> => {
  const { poll: queuePoll } = applyInput({ kind: "look" });
  if (queuePoll === undefined) return undefined;
  const waiting = await listWaitingEndpoints(options.pool, queuePoll);
  const { claim, pollAtMs } = applyInput({ kind: "found", poll: queuePoll, waiting });
  if (claim === undefined) return toDate(pollAtMs);
  const leased = await claimAttempts(options, claim);
  return toDate(applyInput({ kind: "claimed", claim, leased }).pollAtMs);
};

/**
 * Leases due deliveries and reads what their attempts need, in one transaction, so no delivery is
 * leased if the read fails. A link with several deliveries is read once, in its latest state.
 */
const claimAttempts = (
  { pool, targets, timeoutMs }: DispatcherOptions,
  { atMs, shares }: Claim,
): Promise<readonly Attempt[]> =>
  transact(pool, async (tx) => {
    const leaseUntil = new Date(atMs + leaseMsFor(timeoutMs));
    const deliveries = await claimDeliveries(tx, {
      now: new Date(atMs),
      leaseUntil,
      shares: shares.map(({ destination: { endpointId }, share }) => ({ endpointId, share })),
    });
    if (deliveries.length === 0) return [];
    const linkIds = new Set(deliveries.map(({ linkId }) => linkId));
    const links = await findLinks(tx, [...linkIds]);
    const destinations = shares.map(({ destination }) => destination);
    // Its attempts start only after the commit.
    const leasing = { isCommitted: true, ended: Promise.resolve(true) };
    return prepareAttempts(tx, targets, { deliveries, destinations, links, leaseUntil, leasing });
  });

const toDate = (atMs: number | undefined): Date | undefined =>
  atMs === undefined ? undefined : new Date(atMs);

/** The result of an attempt, before it is recorded. */
type EndedRequest = AttemptResult & { startedAt: Date; endedAt: Date; durationMs: number };

/** Makes one attempt and records how it ended, unless the delivery was not stored after all. */
const runAttempt = async (runner: EffectRunner, attempt: Attempt): Promise<void> => {
  const { applyInput, firstRequests, writer } = runner;
  const { delivery, destination, leasing, leaseUntil } = attempt;
  const { id, eventId, endpointId, occurredAt, attempts } = delivery;
  const ended = leasing.isCommitted === false ? undefined : await sendOnce(runner, attempt);
  const hasResponse = ended !== undefined && ended.outcome.httpStatus !== null;
  applyInput({ kind: "ended", destination, hasResponse });
  if (ended !== undefined && (await leasing.ended)) {
    firstRequests.delete(id);
    await writer.write({ id, eventId, endpointId, occurredAt, attempts, ...ended, leaseUntil });
  } else {
    applyInput({ kind: "written", count: 1 });
  }
};

/**
 * Sends a webhook. If the first attempt of the same delivery was sent in a transaction that was
 * rolled back, returns its request instead.
 */
const sendOnce = (runner: EffectRunner, attempt: Attempt): Promise<EndedRequest> => {
  const { delivery, leasing } = attempt;
  if (delivery.attempts > 1) return sendRequest(runner, attempt);
  const request = runner.firstRequests.get(delivery.id) ?? sendRequest(runner, attempt);
  if (leasing.isCommitted === undefined) runner.firstRequests.set(delivery.id, request);
  return request;
};

const sendRequest = async (
  { options: { clock }, metrics, makeAttempt }: EffectRunner,
  { delivery, link, target, leaseUntil }: Attempt,
): Promise<EndedRequest> => {
  const startedAt = clock.now();
  const startedMs = clock.elapsedMs();
  if (delivery.attempts === 1) metrics.observeFirstAttemptDelay(delivery.occurredAt);
  const result = await (link === undefined || target === undefined
    ? { outcome: outcomeFromError(undefined), sentBody: null }
    : makeAttempt({ delivery, link, target, startedAt, leaseUntil }));
  metrics.countAttempt(result.outcome.kind);
  const durationMs = Math.round(clock.elapsedMs() - startedMs);
  return { ...result, startedAt, endedAt: clock.now(), durationMs };
};

const releaseLeases = async (
  { options: { pool, clock, log }, applyInput }: EffectRunner,
  attempts: readonly Attempt[],
): Promise<void> => {
  const stored = await Promise.all(attempts.map(({ leasing }) => leasing.ended));
  const releaseNow = async (leases: readonly Attempt[]) => {
    const lockedLeases = await transact(pool, (tx) => releaseDeliveries(tx, leases, clock.now()));
    const lockedSet = new Set(lockedLeases);
    const released = leases.filter((lease) => !lockedSet.has(lease));
    applyInput({ kind: "queued", destinations: released.map(({ destination }) => destination) });
    return lockedLeases;
  };
  const storedAttempts = attempts.filter((_attempt, index) => stored[index]);
  await releaseLeasesWithRetry({ releaseLeases: releaseNow, clock, log }, storedAttempts);
};

const waitWhileBusy = async (isBusyNow: () => boolean): Promise<void> => {
  for (let checks = 0; checks < busyChecksMax && isBusyNow(); checks += 1)
    await setTimeout(busyCheckMs);
};
