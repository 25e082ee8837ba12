import { setTimeout } from "node:timers/promises";
import { type Pool, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, afterMs, startLoop } from "@payment-links/runtime";
import { leaseMsOf } from "../domain/delivery.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import {
  type Effects,
  type Input,
  createSchedule,
  isBusy,
  roomForNew,
  schedule,
} from "../domain/schedule/schedule.ts";
import type { Place, SlotBounds } from "../domain/schedule/slots.ts";
import { listWaitingEndpoints } from "../store/deliveries.ts";
import { giveBackDeliveries } from "../store/ended-deliveries.ts";
import { type AttemptOutcome, outcomeOfError } from "./attempt/attempt-outcome.ts";
import type { Attempt } from "./attempt/make-attempt.ts";
import { type ClaimedAttempt, claimAttempts } from "./claim-attempts.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endAttempts } from "./end-attempts.ts";
import { giveBackUntilOver } from "./give-back-until-over.ts";
import { type ResultWriter, createResultWriter } from "./result-writer.ts";
import { startLapsing } from "./start-lapsing.ts";
import type { Targets } from "./targets.ts";

/** A leased delivery and where it goes. */
type PlacedAttempt = ClaimedAttempt & { place: Place };

/** Sends what is due, as long as it runs. */
export type Dispatcher = {
  /**
   * How many new deliveries may be leased for each endpoint as they are opened; an endpoint that is
   * missing may have none.
   */
  room(places: readonly Place[]): ReadonlyMap<string, number>;
  /** When the lease of a delivery that is opened now ends. */
  leaseUntil(): Date;
  /**
   * Takes over deliveries that were just opened: the leased ones, and the places where others wait.
   */
  opened(leased: readonly PlacedAttempt[], waitingPlaces: readonly Place[]): void;
  /**
   * Ends once new deliveries could be sent from memory, or after a short time; then they wait in
   * the queue.
   */
  pace(): Promise<void>;
  /** Stops beginning attempts that were leased for the endpoint: it was disabled or deleted. */
  leave(endpointId: string): void;
  /**
   * Begins nothing further, and ends once the attempts under way are made and written. Called again, it
   * ends once what was opened meanwhile is given back.
   */
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

/**
 * How often to look for what other processes left or cannot manage; our own events ask for a look
 * themselves.
 */
const pollMs = 1_000;

/** How often to look for leases that have waited too long. */
const agedMs = 250;

/**
 * How long hearing of more events waits while new deliveries would only pass through the queue, and
 * how often for one chunk: other accounts' events come behind it. Real time, not the clock's.
 */
const paceMs = 5;
const pacesMax = 100;

/** Performs what the schedule decides, and reports back what came of it. */
type Performer = {
  options: DispatcherOptions;
  writer: ResultWriter;
  tell: (input: Input<PlacedAttempt>) => Effects<PlacedAttempt>;
};

/**
 * Starts the dispatcher. Any number of dispatchers, in any number of processes, share one queue: a
 * delivery is leased to one at a time, and an attempt whose lease ran out counts as interrupted.
 */
export const startDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { clock, log, pool } = options;
  const state = createSchedule<PlacedAttempt>(options);
  const nowMs = (): number => clock.now().getTime();
  const underWay = new Set<Promise<void>>();
  const follow = (work: Promise<void>): void => {
    const ending = work.finally(() => underWay.delete(ending));
    underWay.add(ending);
  };
  const tell = (input: Input<PlacedAttempt>): Effects<PlacedAttempt> => {
    const atMs = nowMs();
    const effects = schedule(state, input, atMs);
    for (const item of effects.begin) follow(run(performer, item));
    if (effects.giveBack.length > 0) follow(giveBack(performer, effects.giveBack));
    if (effects.lookAtMs !== undefined && effects.lookAtMs <= atMs) looking.wake();
    return effects;
  };
  const writer = createResultWriter({
    keep: (batch) => transact(pool, (tx) => endAttempts(tx, batch, options)),
    written: (count) => void tell({ kind: "written", count }),
    clock,
    log,
  });
  const performer: Performer = { options, writer, tell };

  const start = (name: string, waitMs: number, job: () => Promise<Date | void>): Loop =>
    startLoop({ name, clock, log, waitMs, run: job });
  const looking = start("webhook sending", pollMs, () => look(performer));
  const aging = start("webhook leases ahead", agedMs, async () => void tell({ kind: "aged" }));
  const lapsing = startLapsing({ ...options, onLapsed: () => looking.wake() });

  return {
    leaseUntil: () => afterMs(clock, leaseMsOf(options.timeoutMs)),
    room: (places) => roomForNew(state, places, nowMs()),
    opened: (leased, waiting) => void tell({ kind: "opened", leased, waiting }),
    pace: () => whileBusy(() => isBusy(state, nowMs())),
    leave: (endpointId) => void tell({ kind: "left", endpointId }),
    stop: async () => {
      tell({ kind: "stopping" });
      await Promise.all([looking.stop(), lapsing.stop(), aging.stop()]);
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

/**
 * Looks for endpoints that have something due and room here, and claims it; answers when to look
 * again.
 */
const look = async ({ options, tell }: Performer): Promise<Date | undefined> => {
  const { look: wanted } = tell({ kind: "look" });
  if (wanted === undefined) return undefined;
  const waiting = await listWaitingEndpoints(options.pool, wanted);
  const { claim, lookAtMs } = tell({ kind: "found", look: wanted, waiting });
  if (claim === undefined) return instantOf(lookAtMs);
  const claimed = await claimAttempts(options, {
    now: new Date(claim.atMs),
    leaseUntil: new Date(claim.atMs + leaseMsOf(options.timeoutMs)),
    turns: claim.turns.map(({ place, share }) => ({ endpointId: place.endpointId, share })),
  });
  const placeOf = new Map(claim.turns.map(({ place }) => [place.endpointId, place]));
  const leased = claimed.flatMap((one) => {
    const place = placeOf.get(one.delivery.endpointId);
    return place === undefined ? [] : [{ ...one, place }];
  });
  return instantOf(tell({ kind: "claimed", claim, leased }).lookAtMs);
};

const instantOf = (atMs: number | undefined): Date | undefined =>
  atMs === undefined ? undefined : new Date(atMs);

/** Makes one attempt and writes how it ended. */
const run = async (
  { options, writer, tell }: Performer,
  { place, delivery, attempt, leaseUntil }: PlacedAttempt,
): Promise<void> => {
  const { clock, metrics } = options;
  const { id: deliveryId, eventId, endpointId, occurredAt, attempts } = delivery;
  const startedAt = clock.now();
  const startedMs = clock.elapsedMs();
  if (attempts === 1) metrics.timeFirstAttempt(occurredAt);
  // There is no attempt if something of ours is missing.
  const outcome = await (attempt === null
    ? outcomeOfError(undefined)
    : options.makeAttempt(attempt));
  metrics.countAttempt(outcome.kind);
  const durationMs = Math.round(clock.elapsedMs() - startedMs);
  const times = { startedAt, endedAt: clock.now(), durationMs, leaseUntil };
  const ended = { deliveryId, eventId, endpointId, occurredAt, attempts, ...times, outcome };
  const written = writer.write(ended);
  tell({ kind: "ended", place, isAnswered: outcome.httpStatus !== null });
  await written;
};

const giveBack = (
  { options: { pool, clock, log }, tell }: Performer,
  items: readonly PlacedAttempt[],
): Promise<void> => {
  const giveBackNow = async (leases: readonly PlacedAttempt[]) => {
    const held = await transact(pool, (tx) => giveBackDeliveries(tx, leases, clock.now()));
    const isHeld = new Set(held);
    const given = leases.filter((lease) => !isHeld.has(lease));
    tell({ kind: "givenBack", places: given.map(({ place }) => place) });
    return held;
  };
  return giveBackUntilOver({ giveBack: giveBackNow, clock, log }, items);
};

const whileBusy = async (isNow: () => boolean): Promise<void> => {
  for (let paces = 0; paces < pacesMax && isNow(); paces += 1) await setTimeout(paceMs);
};
