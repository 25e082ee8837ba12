import { ok } from "node:assert/strict";
import {
  type Claim,
  type Effects,
  type Input,
  type QueuePoll,
  createSchedule,
  capacityForNewDeliveries,
  updateSchedule,
} from "../domain/schedule/schedule.ts";
import type { Destination, SlotLimits } from "../domain/schedule/slots.ts";

/** A delivery in the simulated database. */
export type Row = {
  destination: Destination;
  state: "waiting" | "leased" | "theirs" | "over";
  dueAtMs: number;
  createdAtMs: number;
  startedAtMs: number | undefined;
  attempts: number;
  /** Whether this process was notified that the delivery waits. */
  isKnownToWait: boolean;
};

/** A lease of a delivery by this process. */
type Lease = {
  destination: Destination;
  row: Row;
  stage: "leased" | "ready" | "begun" | "ended" | "given";
  startedAtMs: number;
};

type PendingInsert = { rows: Row[]; leases: Lease[]; isCommitted: boolean };

/** The next step of the poll in progress. There is at most one. */
type PollState =
  | { stage: "asked"; poll: QueuePoll }
  | { stage: "read"; poll: QueuePoll; waiting: (Destination & { dueAt: Date })[] }
  | { stage: "claiming"; claim: Claim }
  | { stage: "claimed"; claim: Claim; leased: Lease[] };

const attemptsMax = 3;
const retryMs = 5_000;
const pollMs = 1_000;
const staleCheckMs = 250;

/**
 * Creates a schedule with a simulated database, simulated receivers and another process. Each of
 * them acts only when a test says so, so any order of events is possible. Every effect is checked
 * against the guarantees.
 */
export const createScheduleWorld = (limits: SlotLimits) => {
  const state = createSchedule<Lease>(limits);
  const rows = new Set<Row>();
  const readyByEndpoint = new Map<string, Lease[]>();
  const attemptsInProgress = new Set<Lease>();
  const respondingEndpoints = new Set<string>();
  const lastStartedAtMs = new Map<string, number>();
  const pendingInserts = new Set<PendingInsert>();
  const releasedLeases: Lease[] = [];
  const unwritten: { lease: Lease; isDelivered: boolean }[] = [];
  let nowMs = 1_000_000;
  let pollState: PollState | undefined;
  let isPollRequested = true;
  let nextScheduledPollAtMs = Infinity;
  let nextIntervalPollAtMs = 0;
  let isStopping = false;

  const countInProgress = (predicate: (destination: Destination) => boolean): number =>
    [...attemptsInProgress].filter(({ destination }) => predicate(destination)).length;

  const expectFreeSlotFor = ({ endpointId, userId, origin }: Destination): void => {
    const freeCount = limits.slotsMax - attemptsInProgress.size;
    const ofEndpointCount = countInProgress((destination) => destination.endpointId === endpointId);
    const ofAccountCount = countInProgress((destination) => destination.userId === userId);
    const atOriginCount = countInProgress((destination) => destination.origin === origin);
    ok(freeCount > 0, "the process exceeds its slots");
    ok(ofEndpointCount < limits.slotsPerEndpointMax, "an endpoint exceeds its slots");
    ok(ofAccountCount < limits.slotsPerAccountMax, "an account exceeds its slots");
    ok(atOriginCount < limits.slotsPerOriginMax, "an origin exceeds its slots");
    // In the last quarter of the slots, an endpoint can have an eighth of the free ones, or its
    // first slot.
    const isReserved = ofEndpointCount > 0 && freeCount <= limits.slotsMax / 4;
    ok(
      !isReserved || ofEndpointCount + 1 <= freeCount / 8,
      "an endpoint exceeds its share of the reserved slots",
    );
  };

  const startAttempt = (lease: Lease): void => {
    ok(!isStopping, "an attempt starts while the process is stopping");
    ok(lease.stage === "ready" && lease.row.state === "leased", `a ${lease.stage} lease starts`);
    // Deliveries to the same endpoint that have waited longer must start first.
    const firstLease = readyByEndpoint.get(lease.destination.endpointId)?.shift();
    ok(firstLease === lease, "an attempt overtakes one that has waited longer");
    expectFreeSlotFor(lease.destination);
    lease.stage = "begun";
    lease.startedAtMs = nowMs;
    lease.row.startedAtMs ??= nowMs;
    lease.row.attempts += 1;
    attemptsInProgress.add(lease);
    lastStartedAtMs.set(lease.destination.endpointId, nowMs);
  };

  const releaseLease = (lease: Lease): void => {
    ok(lease.stage === "ready", `a ${lease.stage} lease is released`);
    lease.stage = "given";
    const ready = readyByEndpoint.get(lease.destination.endpointId) ?? [];
    readyByEndpoint.set(
      lease.destination.endpointId,
      ready.filter((otherLease) => otherLease !== lease),
    );
    releasedLeases.push(lease);
  };

  const applyInput = (input: Input<Lease>): Effects<Lease> => {
    if (input.kind === "leased" || input.kind === "claimed") {
      for (const lease of input.leased) {
        ok(lease.stage === "leased", "a lease is reported twice");
        lease.stage = "ready";
        const ready = readyByEndpoint.get(lease.destination.endpointId) ?? [];
        readyByEndpoint.set(lease.destination.endpointId, [...ready, lease]);
      }
    }
    const effects = updateSchedule(state, input, nowMs);
    for (const lease of effects.attemptsToStart) startAttempt(lease);
    for (const lease of effects.leasesToRelease) releaseLease(lease);
    if (effects.pollAtMs !== undefined && effects.pollAtMs <= nowMs) isPollRequested = true;
    return effects;
  };

  const listWaitingRows = (endpointId: string): Row[] =>
    [...rows].filter(
      ({ state: rowState, destination }) =>
        rowState === "waiting" && destination.endpointId === endpointId,
    );

  const leaseRow = (row: Row): Lease => {
    ok(row.state === "waiting", `a delivery in state ${row.state} is leased`);
    row.state = "leased";
    row.isKnownToWait = false;
    return { destination: row.destination, row, stage: "leased", startedAtMs: 0 };
  };

  /**
   * Lists the due deliveries of an endpoint. The one that has been due for the longest time comes
   * first.
   */
  const listDueRows = (endpointId: string, atMs: number): Row[] =>
    listWaitingRows(endpointId)
      .filter(({ dueAtMs }) => dueAtMs <= atMs)
      .toSorted((firstRow, secondRow) => firstRow.dueAtMs - secondRow.dueAtMs);

  const listWaiting = ({ limit, excluded, alwaysIncluded }: QueuePoll) => {
    const earliestByEndpoint = new Map<string, Destination & { dueAt: Date }>();
    for (const { state: rowState, destination, dueAtMs } of rows) {
      if (rowState !== "waiting") continue;
      const earliest = earliestByEndpoint.get(destination.endpointId);
      if (earliest !== undefined && earliest.dueAt.getTime() <= dueAtMs) continue;
      earliestByEndpoint.set(destination.endpointId, { ...destination, dueAt: new Date(dueAtMs) });
    }
    const isListed = ({ endpointId, userId, origin }: Destination): boolean =>
      alwaysIncluded.includes(endpointId) ||
      (!excluded.endpointIds.includes(endpointId) &&
        !excluded.userIds.includes(userId) &&
        !excluded.origins.includes(origin));
    return [...earliestByEndpoint.values()]
      .filter(isListed)
      .toSorted(
        (firstDestination, secondDestination) =>
          firstDestination.dueAt.getTime() - secondDestination.dueAt.getTime(),
      )
      .slice(0, limit);
  };

  const endPoll = (pollAtMs: number | undefined): void => {
    pollState = undefined;
    nextIntervalPollAtMs = nowMs + pollMs;
    nextScheduledPollAtMs = pollAtMs ?? Infinity;
  };

  return {
    rows,
    pendingInserts,
    attemptsInProgress,
    /** The start of the last attempt, by endpoint. */
    lastStartedAtMs,
    now: () => nowMs,

    /** Starts a transaction that creates the given number of deliveries per destination. */
    beginCreating: (requested: readonly { destination: Destination; count: number }[]): void => {
      const capacityByEndpoint = capacityForNewDeliveries(
        state,
        requested.map(({ destination }) => destination),
        nowMs,
      );
      const pendingInsert: PendingInsert = { rows: [], leases: [], isCommitted: false };
      for (const { destination, count } of requested) {
        const remainingCapacity = capacityByEndpoint.get(destination.endpointId) ?? 0;
        // New deliveries must not overtake deliveries that are known to wait.
        if (remainingCapacity > 0) {
          const isOvertaking = listDueRows(destination.endpointId, nowMs).some(
            ({ isKnownToWait }) => isKnownToWait,
          );
          ok(!isOvertaking, "a new delivery overtakes a waiting one");
          const isLeasedAhead =
            remainingCapacity > limits.slotsPerEndpointMax &&
            !respondingEndpoints.has(destination.endpointId);
          ok(!isLeasedAhead, "too much is prefetched for an endpoint that never responded");
        }
        for (let index = 0; index < count; index += 1) {
          const times = { dueAtMs: nowMs, createdAtMs: nowMs, startedAtMs: undefined };
          const row: Row = {
            destination,
            state: "waiting",
            attempts: 0,
            isKnownToWait: false,
            ...times,
          };
          pendingInsert.rows.push(row);
          if (index < remainingCapacity) pendingInsert.leases.push(leaseRow(row));
        }
      }
      pendingInserts.add(pendingInsert);
    },

    /**
     * Sends the leased deliveries and commits the transaction. The next call notifies the schedule
     * of those that wait.
     */
    continueCreating: (): void => {
      const [pendingInsert] = pendingInserts;
      if (pendingInsert === undefined) return;
      if (!pendingInsert.isCommitted) {
        applyInput({ kind: "leased", leased: pendingInsert.leases });
        for (const row of pendingInsert.rows) rows.add(row);
        pendingInsert.isCommitted = true;
        return;
      }
      pendingInserts.delete(pendingInsert);
      const leasedRows = new Set(pendingInsert.leases.map(({ row }) => row));
      const waitingRows = pendingInsert.rows.filter((row) => !leasedRows.has(row));
      for (const row of waitingRows)
        row.isKnownToWait = row.state === "waiting" && row.dueAtMs <= nowMs;
      const waitingDestinations = [
        ...new Map(
          waitingRows.map(({ destination }) => [destination.endpointId, destination]),
        ).values(),
      ];
      if (waitingDestinations.length > 0)
        applyInput({ kind: "queued", destinations: waitingDestinations });
    },

    /** Ends an attempt. Its result is not written yet. */
    endAttempt: (attempt: Lease, { isAnswered, isDelivered }: Record<string, boolean>): void => {
      ok(attemptsInProgress.delete(attempt), "an attempt ends twice");
      attempt.stage = "ended";
      if (isAnswered === true) respondingEndpoints.add(attempt.destination.endpointId);
      unwritten.push({ lease: attempt, isDelivered: isDelivered === true });
      applyInput({
        kind: "ended",
        destination: attempt.destination,
        hasResponse: isAnswered === true,
      });
    },

    writeResults: (): void => {
      for (const {
        lease: { row },
        isDelivered,
      } of unwritten.splice(0)) {
        ok(row.state === "leased", `a delivery in state ${row.state} gets a result`);
        const isOver = isDelivered || row.attempts >= attemptsMax;
        row.state = isOver ? "over" : "waiting";
        row.dueAtMs = nowMs + retryMs;
        applyInput({ kind: "written", count: 1 });
      }
    },

    releaseLeases: (): void => {
      const leases = releasedLeases.splice(0);
      if (leases.length === 0) return;
      for (const { row } of leases) {
        ok(row.state === "leased", `a delivery in state ${row.state} is released`);
        Object.assign(row, { state: "waiting", dueAtMs: nowMs, isKnownToWait: true });
      }
      applyInput({ kind: "queued", destinations: leases.map(({ destination }) => destination) });
    },

    /** Lets another process lease the endpoint's due deliveries, or release all of its leases. */
    actAsRival: (endpointId: string): void => {
      const rivalRows = [...rows].filter(({ state: rowState }) => rowState === "theirs");
      for (const row of rivalRows) row.state = "waiting";
      if (rivalRows.length > 0) return;
      for (const row of listDueRows(endpointId, nowMs)) {
        Object.assign(row, { state: "theirs", isKnownToWait: false });
      }
    },

    /** Disables the endpoint and ends its waiting deliveries. */
    disableEndpoint: (endpointId: string): void => {
      for (const row of listWaitingRows(endpointId)) row.state = "over";
      applyInput({ kind: "left", endpointId });
    },

    advance: (ms: number): void => {
      for (let remainingMs = ms; remainingMs > 0;) {
        const step = Math.min(remainingMs, staleCheckMs - (nowMs % staleCheckMs));
        nowMs += step;
        remainingMs -= step;
        if (nowMs % staleCheckMs === 0) applyInput({ kind: "aged" });
      }
    },

    stop: (): void => {
      isStopping = true;
      applyInput({ kind: "stopping" });
    },

    /** Returns whether a poll is in progress or the loop would start one now. */
    wouldPoll: (): boolean =>
      pollState !== undefined ||
      isPollRequested ||
      nowMs >= Math.min(nextScheduledPollAtMs, nextIntervalPollAtMs),

    /** Returns whether any work will continue before the next poll. */
    hasPendingWork: (): boolean =>
      pendingInserts.size + attemptsInProgress.size + unwritten.length + releasedLeases.length >
        0 ||
      pollState !== undefined ||
      isPollRequested ||
      nextScheduledPollAtMs < nextIntervalPollAtMs,

    /** Starts a poll, or performs its next step. */
    continuePolling: (): void => {
      if (pollState === undefined) {
        isPollRequested = false;
        const { poll } = applyInput({ kind: "look" });
        if (poll === undefined) endPoll(undefined);
        else pollState = { stage: "asked", poll };
      } else if (pollState.stage === "asked") {
        pollState = { ...pollState, stage: "read", waiting: listWaiting(pollState.poll) };
      } else if (pollState.stage === "read") {
        const { poll, waiting } = pollState;
        const { claim, pollAtMs } = applyInput({ kind: "found", poll, waiting });
        if (claim === undefined) endPoll(pollAtMs);
        else pollState = { stage: "claiming", claim };
      } else if (pollState.stage === "claiming") {
        const { claim } = pollState;
        const leased = claim.shares.flatMap(({ destination, share }) =>
          listDueRows(destination.endpointId, claim.atMs).slice(0, share).map(leaseRow),
        );
        pollState = { stage: "claimed", claim, leased };
      } else {
        const { claim, leased } = pollState;
        endPoll(applyInput({ kind: "claimed", claim, leased }).pollAtMs);
      }
    },

    expectNoneForgotten: (): void => {
      const isForgotten = ({ state: rowState, isKnownToWait }: Row): boolean =>
        rowState === "waiting" && isKnownToWait;
      ok(![...rows].some(isForgotten), "a delivery is forgotten until the next poll");
    },

    expectEmpty: (): void => {
      const { slots, ready, backlog, unwrittenCount } = state;
      const { endpoints, accounts, origins, takenCount } = slots;
      ok(endpoints.size + accounts.size + origins.size + takenCount === 0, "a slot is still taken");
      ok(ready.size + ready.queues.size + unwrittenCount === 0, "a lease remains");
      ok(backlog.size === 0, "an endpoint still has a backlog");
    },
  };
};

export type ScheduleWorld = ReturnType<typeof createScheduleWorld>;
