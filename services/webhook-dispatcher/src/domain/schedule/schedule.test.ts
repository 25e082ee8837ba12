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
});
