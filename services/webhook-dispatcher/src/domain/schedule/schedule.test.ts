import { describe, expect, test } from "@jest/globals";
import { createSchedule, isBusy, roomForNew, schedule } from "./schedule.ts";
import type { Place } from "./slots.ts";

const nowMs = 1_000_000;
const place: Place = { endpointId: "e", userId: "u", origin: "o" };
const other: Place = { endpointId: "e2", userId: "u2", origin: "o2" };

const open = (slotsMax: number) => {
  const bounds = { slotsMax, slotsPerEndpointMax: slotsMax };
  const state = createSchedule<{ place: Place }>({
    ...bounds,
    slotsPerAccountMax: slotsMax,
    slotsPerOriginMax: slotsMax,
  });
  const tell = (input: Parameters<typeof schedule<{ place: Place }>>[1]) =>
    schedule(state, input, nowMs);
  /** Opens as many deliveries there, leased, and ends them all; answers how many were begun. */
  const send = (count: number): number => {
    const leased = Array.from({ length: count }, () => ({ place }));
    const { begin } = tell({ kind: "opened", leased, waiting: [] });
    for (const begun of begin) tell({ kind: "ended", place: begun.place, isAnswered: true });
    return begin.length;
  };
  return { state, tell, send };
};

const leasedThere = { kind: "opened", leased: [{ place }], waiting: [other] } as const;

describe("with a thousand results unwritten", () => {
  test("nothing begins, is leased or looked for; once fewer are, all goes on", () => {
    const { state, tell, send } = open(4_000);
    expect(send(999)).toBe(999);
    expect(tell(leasedThere).begin).toHaveLength(1);
    tell({ kind: "ended", place, isAnswered: true });
    expect(tell(leasedThere).begin).toEqual([]);
    expect(roomForNew(state, [place], nowMs)).toEqual(new Map());
    expect(tell({ kind: "look" }).look).toBeUndefined();
    expect(tell({ kind: "written", count: 1 })).toMatchObject({
      begin: [{ place }],
      lookAtMs: nowMs,
    });
    expect(roomForNew(state, [place], nowMs).get("e")).toBeGreaterThan(0);
    expect(tell({ kind: "look" }).look?.limit).toBeGreaterThan(0);
    // As nothing had come to a stop.
    expect(tell({ kind: "written", count: 1 })).toMatchObject({ begin: [], lookAtMs: undefined });
  });
});

describe("hearing of more", () => {
  test("waits while more than a hundred are ready in memory", () => {
    const { state, tell } = open(1);
    const leased = Array.from({ length: 101 }, () => ({ place }));
    tell({ kind: "opened", leased, waiting: [] });
    expect(isBusy(state, nowMs)).toBe(false);
    tell({ kind: "opened", leased: [{ place }], waiting: [] });
    expect(isBusy(state, nowMs)).toBe(true);
  });

  test("waits while an endpoint of five hundred answers a second has a backlog, and no longer", () => {
    const { state, tell, send } = open(200);
    send(101);
    tell({ kind: "opened", leased: [], waiting: [other] });
    expect(isBusy(state, nowMs)).toBe(false);
    tell({ kind: "opened", leased: [], waiting: [place] });
    expect(isBusy(state, nowMs)).toBe(true);
    expect(isBusy(state, nowMs + 400)).toBe(false);
  });
});

describe("a look", () => {
  test("that finds nothing due comes again when the first is; contended, a moment later", () => {
    const { tell } = open(4);
    const { look } = tell({ kind: "look" });
    if (look === undefined) throw new Error("there are free slots");
    const due = (ms: number) => [{ ...place, dueAt: new Date(nowMs + ms) }];
    expect(tell({ kind: "found", look, waiting: due(70) }).lookAtMs).toBe(nowMs + 70);
    const { claim } = tell({ kind: "found", look, waiting: due(0) });
    if (claim === undefined) throw new Error("something is due");
    expect(tell({ kind: "claimed", claim, leased: [] }).lookAtMs).toBe(nowMs + 50);
  });

  /** Lets it look, while slots are free, and find as many endpoints that have something due. */
  const find = (tell: ReturnType<typeof open>["tell"], count = 1) => {
    const { look } = tell({ kind: "look" });
    if (look === undefined) throw new Error("there are free slots");
    const waiting = Array.from({ length: count }, (_, at) => {
      const name = String(at);
      return { endpointId: name, userId: name, origin: name, dueAt: new Date(nowMs) };
    });
    return { kind: "found", look, waiting } as const;
  };

  test("whose slots are taken before it has found anything claims nothing, and comes again", () => {
    const { tell } = open(1);
    const found = find(tell);
    tell({ kind: "opened", leased: [{ place }], waiting: [] });
    expect(tell(found)).toMatchObject({ claim: undefined, lookAtMs: nowMs + 50 });
  });

  test("claims five hundred at most", () => {
    const { tell } = open(4_000);
    const { claim } = tell(find(tell, 600));
    expect(claim?.turns.reduce((sum, { share }) => sum + share, 0)).toBe(500);
  });

  test("is wanted for an endpoint that answers, though it may begin no more", () => {
    const { tell, send } = open(40);
    send(9);
    const leased = Array.from({ length: 33 }, () => ({ place }));
    tell({ kind: "opened", leased, waiting: [place] });
    expect(tell({ kind: "ended", place, isAnswered: false })).toMatchObject({
      begin: [{ place }],
      lookAtMs: nowMs,
    });
  });

  test("asks for none ahead where attempts end without an answer", () => {
    const { tell } = open(9);
    tell({ kind: "opened", leased: [{ place }], waiting: [] });
    tell({ kind: "ended", place, isAnswered: false });
    expect(tell({ kind: "look" }).look?.always).toEqual([]);
  });
});

test("once it is stopping it leases nothing, neither what is new nor what a look has found", () => {
  const { state, tell } = open(9);
  const { look } = tell({ kind: "look" });
  if (look === undefined) throw new Error("there are free slots");
  tell({ kind: "stopping" });
  expect(roomForNew(state, [place], nowMs)).toEqual(new Map());
  const waiting = [{ ...place, dueAt: new Date(nowMs) }];
  expect(tell({ kind: "found", look, waiting }).claim).toBeUndefined();
});
