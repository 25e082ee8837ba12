import { describe, expect, test } from "@jest/globals";
import { createHeldClock, openLog } from "@payment-links/runtime";
import { giveBackUntilOver } from "./give-back-until-over.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const log = openLog({ service: "test", level: "silent" });

/** Leases that are over at as many milliseconds from the start. */
const leasesUntil = (...ms: number[]) =>
  ms.map((one) => ({ leaseUntil: new Date(start.getTime() + one) }));

type Lease = { leaseUntil: Date };

/** Gives leases back by a clock that jumps to what is waited for; answers when each try came. */
const giveBackAtOnce = async (
  leases: readonly Lease[],
  giveBack: (tries: number, left: readonly Lease[]) => readonly Lease[],
) => {
  const held = createHeldClock(start);
  const nowMs = () => held.now().getTime();
  const until = async (instant: Date) => held.advance(instant.getTime() - nowMs());
  const tries: { atMs: number; left: readonly Lease[] }[] = [];
  const options = {
    giveBack: async (left: readonly Lease[]) => {
      tries.push({ atMs: nowMs() - start.getTime(), left });
      return giveBack(tries.length, left);
    },
    clock: { ...held, until },
    log,
  };
  await giveBackUntilOver(options, leases);
  return tries;
};

describe("giveBackUntilOver", () => {
  test("tries once where all is given back", async () => {
    const leases = leasesUntil(30_000, 30_000);
    expect(await giveBackAtOnce(leases, () => [])).toEqual([{ atMs: 0, left: leases }]);
  });

  test("tries again what somebody else holds, and nothing else, less and less often", async () => {
    const [held, other] = leasesUntil(30_000, 30_000);
    if (held === undefined || other === undefined) throw new Error("there are two");
    const tries = await giveBackAtOnce([held, other], (count) => (count < 4 ? [held] : []));
    expect(tries).toEqual([
      { atMs: 0, left: [held, other] },
      { atMs: 100, left: [held] },
      { atMs: 300, left: [held] },
      { atMs: 700, left: [held] },
    ]);
  });

  test("tries all again where the database was away", async () => {
    const leases = leasesUntil(30_000, 30_000);
    const tries = await giveBackAtOnce(leases, (count) => {
      if (count === 1) throw new Error("the database is away");
      return [];
    });
    expect(tries).toEqual([
      { atMs: 0, left: leases },
      { atMs: 100, left: leases },
    ]);
  });

  // Guards against a stop that waits for a database which stays away.
  test.each([
    ["somebody else holds", (_: number, left: readonly Lease[]) => left],
    [
      "cannot be written",
      () => {
        throw new Error("the database is away");
      },
    ],
  ])("gives up what %s at the end of each lease", async (_, giveBack) => {
    const [first, last] = leasesUntil(1_000, 30_000);
    if (first === undefined || last === undefined) throw new Error("there are two");
    const tries = await giveBackAtOnce([first, last], giveBack);
    const triesOf = (lease: Lease) => tries.filter(({ left }) => left.includes(lease));
    expect(triesOf(first).map(({ atMs }) => atMs)).toEqual([0, 100, 300, 700]);
    expect(triesOf(last).at(-1)?.atMs).toBeGreaterThan(27_000);
    expect(triesOf(last).at(-1)?.atMs).toBeLessThan(30_000);
    expect(tries.length).toBeLessThanOrEqual(20);
  });
});
