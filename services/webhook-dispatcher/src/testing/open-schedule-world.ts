import { ok } from "node:assert/strict";
import {
  type Claim,
  type Effects,
  type Input,
  type Look,
  createSchedule,
  roomForNew,
  schedule,
} from "../domain/schedule/schedule.ts";
import type { Place, SlotBounds } from "../domain/schedule/slots.ts";

/** A delivery as the database has it. */
export type Row = {
  place: Place;
  state: "waiting" | "leased" | "theirs" | "over";
  dueAtMs: number;
  openedAtMs: number;
  begunAtMs: number | undefined;
  attempts: number;
  /** This process was told that the delivery waits. */
  isTold: boolean;
};

/** One lease of a delivery by our process. */
type Lease = {
  place: Place;
  row: Row;
  stage: "leased" | "ready" | "begun" | "ended" | "given";
  begunAtMs: number;
};

type Opening = { rows: Row[]; leases: Lease[]; isCommitted: boolean };

/** At most one look is under way: what it waits for next. */
type Looking =
  | { stage: "asked"; look: Look }
  | { stage: "read"; look: Look; waiting: (Place & { dueAt: Date })[] }
  | { stage: "claiming"; claim: Claim }
  | { stage: "claimed"; claim: Claim; leased: Lease[] };

const attemptsMax = 3;
const retryMs = 5_000;
const pollMs = 1_000;
const agedMs = 250;

/**
 * A schedule with a database, receivers and another process around it. Each of these acts only when
 * a test says so, so that any order of events can be played. Every effect is checked against what
 * is promised.
 */
export const openScheduleWorld = (bounds: SlotBounds) => {
  const state = createSchedule<Lease>(bounds);
  const rows = new Set<Row>();
  const readyOf = new Map<string, Lease[]>();
  const underWay = new Set<Lease>();
  const answering = new Set<string>();
  const lastBegunAtMs = new Map<string, number>();
  const openings = new Set<Opening>();
  const givenBack: Lease[] = [];
  const unwritten: { lease: Lease; isDelivered: boolean }[] = [];
  let nowMs = 1_000_000;
  let looking: Looking | undefined;
  let isLookWanted = true;
  let nextLookAtMs = Infinity;
  let nextPollAtMs = 0;
  let isStopping = false;

  const countUnderWay = (test: (place: Place) => boolean): number =>
    [...underWay].filter(({ place }) => test(place)).length;

  const expectRoomFor = ({ endpointId, userId, origin }: Place): void => {
    const free = bounds.slotsMax - underWay.size;
    const own = countUnderWay((place) => place.endpointId === endpointId);
    const ofAccount = countUnderWay((place) => place.userId === userId);
    const atOrigin = countUnderWay((place) => place.origin === origin);
    ok(free > 0, "a process is over its slots");
    ok(own < bounds.slotsPerEndpointMax, "an endpoint is over its slots");
    ok(ofAccount < bounds.slotsPerAccountMax, "an account is over its slots");
    ok(atOrigin < bounds.slotsPerOriginMax, "an origin is over its slots");
    // Of the last quarter of the slots, an endpoint may have an eighth of what is free, or its
    // first slot.
    const isOfLast = own > 0 && free <= bounds.slotsMax / 4;
    ok(!isOfLast || own + 1 <= free / 8, "an endpoint has more of the last quarter than it may");
  };

  const begin = (lease: Lease): void => {
    ok(!isStopping, "an attempt begins while the process stops");
    ok(lease.stage === "ready" && lease.row.state === "leased", `a ${lease.stage} lease begins`);
    // Deliveries that have waited longer for the same endpoint go first.
    const first = readyOf.get(lease.place.endpointId)?.shift();
    ok(first === lease, "an attempt begins before another that waits longer");
    expectRoomFor(lease.place);
    lease.stage = "begun";
    lease.begunAtMs = nowMs;
    lease.row.begunAtMs ??= nowMs;
    lease.row.attempts += 1;
    underWay.add(lease);
    lastBegunAtMs.set(lease.place.endpointId, nowMs);
  };

  const giveBack = (lease: Lease): void => {
    ok(lease.stage === "ready", `a ${lease.stage} lease is given back`);
    lease.stage = "given";
    const ready = readyOf.get(lease.place.endpointId) ?? [];
    readyOf.set(
      lease.place.endpointId,
      ready.filter((other) => other !== lease),
    );
    givenBack.push(lease);
  };

  const tell = (input: Input<Lease>): Effects<Lease> => {
    if (input.kind === "opened" || input.kind === "claimed") {
      for (const lease of input.leased) {
        ok(lease.stage === "leased", "a lease is told of twice");
        lease.stage = "ready";
        const ready = readyOf.get(lease.place.endpointId) ?? [];
        readyOf.set(lease.place.endpointId, [...ready, lease]);
      }
    }
    const effects = schedule(state, input, nowMs);
    for (const lease of effects.begin) begin(lease);
    for (const lease of effects.giveBack) giveBack(lease);
    if (effects.lookAtMs !== undefined && effects.lookAtMs <= nowMs) isLookWanted = true;
    return effects;
  };

  const waitingOf = (endpointId: string): Row[] =>
    [...rows].filter(({ state: at, place }) => at === "waiting" && place.endpointId === endpointId);

  const lease = (row: Row): Lease => {
    ok(row.state === "waiting", `a delivery is leased that is ${row.state}`);
    row.state = "leased";
    row.isTold = false;
    return { place: row.place, row, stage: "leased", begunAtMs: 0 };
  };

  /** What is due at an endpoint, the longest due first. */
  const dueOf = (endpointId: string, atMs: number): Row[] =>
    waitingOf(endpointId)
      .filter(({ dueAtMs }) => dueAtMs <= atMs)
      .toSorted((one, other) => one.dueAtMs - other.dueAtMs);

  const listWaiting = ({ limit, without, always }: Look) => {
    const first = new Map<string, Place & { dueAt: Date }>();
    for (const { state: at, place, dueAtMs } of rows) {
      if (at !== "waiting") continue;
      const known = first.get(place.endpointId);
      if (known !== undefined && known.dueAt.getTime() <= dueAtMs) continue;
      first.set(place.endpointId, { ...place, dueAt: new Date(dueAtMs) });
    }
    const isListed = ({ endpointId, userId, origin }: Place): boolean =>
      always.includes(endpointId) ||
      (!without.endpointIds.includes(endpointId) &&
        !without.userIds.includes(userId) &&
        !without.origins.includes(origin));
    return [...first.values()]
      .filter(isListed)
      .toSorted((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
      .slice(0, limit);
  };

  const endLook = (lookAtMs: number | undefined): void => {
    looking = undefined;
    nextPollAtMs = nowMs + pollMs;
    nextLookAtMs = lookAtMs ?? Infinity;
  };

  return {
    rows,
    openings,
    underWay,
    /** When the last attempt began, by endpoint. */
    lastBegunAtMs,
    now: () => nowMs,

    /** Begins to open deliveries, as many for each place as given. */
    open: (wanted: readonly { place: Place; count: number }[]): void => {
      const room = roomForNew(
        state,
        wanted.map(({ place }) => place),
        nowMs,
      );
      const opening: Opening = { rows: [], leases: [], isCommitted: false };
      for (const { place, count } of wanted) {
        const left = room.get(place.endpointId) ?? 0;
        // Nothing new overtakes deliveries that are known to wait.
        if (left > 0) {
          const isPassed = dueOf(place.endpointId, nowMs).some(({ isTold }) => isTold);
          ok(!isPassed, "a new delivery goes before one that waits");
          const isAhead = left > bounds.slotsPerEndpointMax && !answering.has(place.endpointId);
          ok(!isAhead, "more is leased ahead for an endpoint that never answered");
        }
        for (let at = 0; at < count; at += 1) {
          const times = { dueAtMs: nowMs, openedAtMs: nowMs, begunAtMs: undefined };
          const row: Row = { place, state: "waiting", attempts: 0, isTold: false, ...times };
          opening.rows.push(row);
          if (at < left) opening.leases.push(lease(row));
        }
      }
      openings.add(opening);
    },

    /** Commits what is being opened; the next call tells of it. */
    goOnOpening: (): void => {
      const [opening] = openings;
      if (opening === undefined) return;
      if (!opening.isCommitted) {
        for (const row of opening.rows) rows.add(row);
        opening.isCommitted = true;
        return;
      }
      openings.delete(opening);
      const leased = new Set(opening.leases.map(({ row }) => row));
      const left = opening.rows.filter((row) => !leased.has(row));
      for (const row of left) row.isTold = row.state === "waiting" && row.dueAtMs <= nowMs;
      const waiting = [...new Map(left.map(({ place }) => [place.endpointId, place])).values()];
      tell({ kind: "opened", leased: opening.leases, waiting });
    },

    /** Ends an attempt; its result is not yet written. */
    end: (attempt: Lease, { isAnswered, isDelivered }: Record<string, boolean>): void => {
      ok(underWay.delete(attempt), "an attempt ends twice");
      attempt.stage = "ended";
      if (isAnswered === true) answering.add(attempt.place.endpointId);
      unwritten.push({ lease: attempt, isDelivered: isDelivered === true });
      tell({ kind: "ended", place: attempt.place, isAnswered: isAnswered === true });
    },

    write: (): void => {
      for (const {
        lease: { row },
        isDelivered,
      } of unwritten.splice(0)) {
        ok(row.state === "leased", `a result is written of a delivery that is ${row.state}`);
        const isOver = isDelivered || row.attempts >= attemptsMax;
        row.state = isOver ? "over" : "waiting";
        row.dueAtMs = nowMs + retryMs;
        tell({ kind: "written", count: 1 });
      }
    },

    writeBack: (): void => {
      const leases = givenBack.splice(0);
      if (leases.length === 0) return;
      for (const { row } of leases) {
        ok(row.state === "leased", `a delivery is given back that is ${row.state}`);
        Object.assign(row, { state: "waiting", dueAtMs: nowMs, isTold: true });
      }
      tell({ kind: "givenBack", places: leases.map(({ place }) => place) });
    },

    /** Another process leases what is due for an endpoint, or gives all back that it had. */
    rival: (endpointId: string): void => {
      const theirs = [...rows].filter(({ state: at }) => at === "theirs");
      for (const row of theirs) row.state = "waiting";
      if (theirs.length > 0) return;
      for (const row of dueOf(endpointId, nowMs)) {
        Object.assign(row, { state: "theirs", isTold: false });
      }
    },

    /** The endpoint is disabled: what waits is over. */
    leave: (endpointId: string): void => {
      for (const row of waitingOf(endpointId)) row.state = "over";
      tell({ kind: "left", endpointId });
    },

    advance: (ms: number): void => {
      for (let left = ms; left > 0;) {
        const step = Math.min(left, agedMs - (nowMs % agedMs));
        nowMs += step;
        left -= step;
        if (nowMs % agedMs === 0) tell({ kind: "aged" });
      }
    },

    stop: (): void => {
      isStopping = true;
      tell({ kind: "stopping" });
    },

    /** Whether a look is under way, or the loop would begin one now. */
    wouldLook: (): boolean =>
      looking !== undefined || isLookWanted || nowMs >= Math.min(nextLookAtMs, nextPollAtMs),

    /** Whether something goes on by itself before the next poll. */
    isMoving: (): boolean =>
      openings.size + underWay.size + unwritten.length + givenBack.length > 0 ||
      looking !== undefined ||
      isLookWanted ||
      nextLookAtMs < nextPollAtMs,

    /** Begins a look, or does its next step. */
    goOnLooking: (): void => {
      if (looking === undefined) {
        isLookWanted = false;
        const { look } = tell({ kind: "look" });
        if (look === undefined) endLook(undefined);
        else looking = { stage: "asked", look };
      } else if (looking.stage === "asked") {
        looking = { ...looking, stage: "read", waiting: listWaiting(looking.look) };
      } else if (looking.stage === "read") {
        const { look, waiting } = looking;
        const { claim, lookAtMs } = tell({ kind: "found", look, waiting });
        if (claim === undefined) endLook(lookAtMs);
        else looking = { stage: "claiming", claim };
      } else if (looking.stage === "claiming") {
        const { claim } = looking;
        const leased = claim.turns.flatMap(({ place, share }) =>
          dueOf(place.endpointId, claim.atMs).slice(0, share).map(lease),
        );
        looking = { stage: "claimed", claim, leased };
      } else {
        const { claim, leased } = looking;
        endLook(tell({ kind: "claimed", claim, leased }).lookAtMs);
      }
    },

    expectNothingForgotten: (): void => {
      const isForgotten = ({ state: at, isTold }: Row): boolean => at === "waiting" && isTold;
      ok(![...rows].some(isForgotten), "a delivery is forgotten until the next poll");
    },

    expectEmpty: (): void => {
      const { slots, ready, backlog, unwrittenCount } = state;
      const { endpoints, accounts, origins, taken } = slots;
      ok(endpoints.size + accounts.size + origins.size + taken === 0, "a slot is not free");
      ok(ready.size + ready.queues.size + unwrittenCount === 0, "a lease is left");
      ok(backlog.size === 0, "an endpoint is held for one with a backlog");
    },
  };
};

export type ScheduleWorld = ReturnType<typeof openScheduleWorld>;
