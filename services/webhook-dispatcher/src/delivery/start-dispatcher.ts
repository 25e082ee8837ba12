import { setTimeout } from "node:timers/promises";
import { afterMs, startLoop } from "@payment-links/runtime";
import { listWaitingEndpoints } from "../store/deliveries.ts";
import { createAnswerRates } from "./answer-rates.ts";
import { type Backlog, createBacklog } from "./backlog.ts";
import { claimAttempts } from "./claim-attempts.ts";
import { leaseMsOf } from "./lease.ts";
import { type ReadyQueue, createReadyQueue } from "./ready-queue.ts";
import { type PlacedAttempt, type Sender, type SenderOptions, startSender } from "./sender.ts";
import { type Place, type SlotBounds, type Slots, type Turn, createSlots } from "./slots.ts";
import { startLapsing } from "./start-lapsing.ts";
import type { Targets } from "./targets.ts";

/** Sends what is due, as long as it runs. */
export type Dispatcher = {
  /** Says that there may be something due now. */
  wake(): void;
  /** How many new deliveries may be leased for each endpoint as they are opened; what lacks has none. */
  room(places: readonly Place[]): ReadonlyMap<string, number>;
  /** When the lease of a delivery ends that is opened now. */
  leaseUntil(): Date;
  /** Takes over deliveries that were just opened: those leased, and the places for which others wait. */
  opened(leased: readonly PlacedAttempt[], waitingPlaces: readonly Place[]): void;
  /** Ends once new deliveries could be sent from memory, or soon: then they wait in the queue. */
  pace(): Promise<void>;
  /** Begins no further attempt that was leased for the endpoint before: it is disabled or deleted. */
  leave(endpointId: string): void;
  /** Begins nothing further, and ends once the attempts under way are made and written. */
  stop(): Promise<void>;
};

type DispatcherOptions = SlotBounds &
  Omit<SenderOptions, "slots" | "ready" | "rates" | "onFreed" | "onGivenBack"> & {
    targets: Targets;
    timeoutMs: number;
  };

/** How often to look for what other processes left or cannot manage; our own events wake us. */
const pollMs = 1_000;

/** What is due and could not be claimed is in another process's claim, for a moment. */
const contendedWaitMs = 50;

const claimRowsMax = 500;

/** What waits and what is under way in this process. */
type Desk = {
  options: DispatcherOptions;
  slots: Slots;
  ready: ReadyQueue<PlacedAttempt>;
  backlog: Backlog;
  sender: Sender;
};

/**
 * Starts the dispatcher. Any number of them, in any number of processes, share one queue: a delivery is
 * leased to one at a time, and an attempt whose lease ran out counts as interrupted.
 */
export const startDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { clock, log } = options;
  const slots = createSlots(options);
  const rates = createAnswerRates(clock);
  const ready = createReadyQueue<PlacedAttempt>(clock, rates);
  const backlog = createBacklog();
  const canTake = (place: Place): boolean =>
    slots.hasRoom(place) || ready.isHungry(place.endpointId);
  let isStopping = false;
  const sender = startSender({
    ...options,
    slots,
    ready,
    rates,
    onFreed: () => {
      if (backlog.some(canTake)) sending.wake();
    },
    onGivenBack: (place) => {
      backlog.mark(place);
      sending.wake();
    },
  });
  const desk: Desk = { options, slots, ready, backlog, sender };
  const sending = startLoop({
    name: "webhook sending",
    clock,
    log,
    waitMs: pollMs,
    run: () => claimDue(desk),
  });
  const lapsing = startLapsing({ ...options, onLapsed: () => sending.wake() });

  return {
    wake: () => sending.wake(),
    leaseUntil: () => afterMs(clock, leaseMsOf(options.timeoutMs)),
    room: (places) => {
      if (isStopping || sender.isClogged()) return new Map();
      // Nothing new goes before what waits.
      const caughtUp = places.filter(({ endpointId }) => !backlog.has(endpointId));
      return new Map(turnsOf(desk, caughtUp).map(({ place, share }) => [place.endpointId, share]));
    },
    opened: (leased, waitingPlaces) => {
      for (const place of waitingPlaces) backlog.mark(place);
      sender.accept(leased);
      if (waitingPlaces.length > 0) sending.wake();
    },
    pace: () =>
      whileBusy(() => {
        if (ready.size() > pacedReadyMin) return true;
        const isAnswering = ({ endpointId }: Place): boolean => ready.mayHold(endpointId) > 0;
        return rates.ofAll() > pacedAnswersMin && backlog.some(isAnswering);
      }),
    leave: (endpointId) => sender.leave(endpointId),
    stop: async () => {
      isStopping = true;
      await Promise.all([sending.stop(), lapsing.stop()]);
      await sender.stop();
    },
  };
};

/** Looks for endpoints with something due that has room here, and claims it; answers when to look again. */
const claimDue = async (desk: Desk): Promise<boolean | Date | undefined> => {
  const { options, slots, ready, backlog, sender } = desk;
  const { clock, pool } = options;
  const hungry = ready.hungry();
  const limit = slots.free() + hungry.length;
  // An attempt that ends frees its slot and wakes this.
  if (sender.isClogged() || limit === 0) return undefined;
  const now = clock.now();
  const marks = backlog.marks();
  const without = slots.full();
  const waiting = await listWaitingEndpoints(pool, { limit, without, always: hungry });
  const isWhole = waiting.length < limit && Object.values(without).every(isEmpty);
  if (isWhole) for (const endpointId of marks.keys()) backlog.clear(endpointId, marks);
  const due = waiting.filter(({ dueAt }) => dueAt <= now);
  if (due.length === 0) return waiting[0]?.dueAt;
  for (const place of due) backlog.mark(place);
  return (await claim(desk, now, due)) > 0 || afterMs(clock, contendedWaitMs);
};

const isEmpty = (list: readonly string[]): boolean => list.length === 0;

const claim = async (desk: Desk, now: Date, places: readonly Place[]): Promise<number> => {
  const { options, backlog, sender } = desk;
  const turns = turnsOf(desk, places);
  if (turns.length === 0) return 0;
  const marks = backlog.marks();
  const claimed = await claimAttempts(options, {
    now,
    leaseUntil: new Date(now.getTime() + leaseMsOf(options.timeoutMs)),
    turns: turns.map(({ place, share }) => ({ endpointId: place.endpointId, share })),
  });
  const byEndpoint = Map.groupBy(claimed, ({ delivery }) => delivery.endpointId);
  for (const { place, share } of turns) {
    const got = byEndpoint.get(place.endpointId) ?? [];
    if (got.length < share) backlog.clear(place.endpointId, marks);
    sender.accept(got.map((one) => ({ ...one, place })));
  }
  return claimed.length;
};

/** Whose turn it is: what may begin now, and what may be leased ahead. */
const turnsOf = ({ slots, ready }: Desk, places: readonly Place[]): Turn[] => {
  const shares = new Map(slots.share(places).map(({ place, share }) => [place, share]));
  let left = claimRowsMax;
  return places.flatMap((place) => {
    const wanted = (shares.get(place) ?? 0) + ready.room(place.endpointId);
    const share = Math.min(wanted, left);
    left -= share;
    return share > 0 ? [{ place, share }] : [];
  });
};

/**
 * While as much as this waits in memory, or waits in the queue for endpoints that take five hundred a second
 * between them, hearing of more waits too, a moment and again: it would only pass through the queue. But no
 * longer than this for one chunk, as others are heard of behind it. No clock's time.
 */
const pacedReadyMin = 100;
const pacedAnswersMin = 100;
const paceMs = 5;
const pacesMax = 100;

const whileBusy = async (isBusy: () => boolean): Promise<void> => {
  for (let paces = 0; paces < pacesMax && isBusy(); paces += 1) await setTimeout(paceMs);
};
