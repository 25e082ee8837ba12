import { describe, expect, test } from "@jest/globals";
import type { Response } from "express";
import { createHeldClock, openMetrics } from "@payment-links/runtime";
import { createDeepPages, deepOffsetMin } from "./deep-pages.ts";

/** One service's deep pages, whose reading a test holds. */
const open = () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = openMetrics("test");
  const pages = createDeepPages({ clock, metrics });
  const reading: string[] = [];
  const ends = new Map<string, (fault?: Error) => void>();
  /** Has an account ask for a page; answers its outcome, and when to try again if it is refused. */
  const ask = async (accountId: string, offset = deepOffsetMin) => {
    const headers: Record<string, string> = {};
    const setHeader = (name: string, value: string) => void (headers[name] = value);
    const work = () =>
      new Promise<string>((resolve, reject) => {
        reading.push(accountId);
        ends.set(accountId, (fault) => (fault === undefined ? resolve("read") : reject(fault)));
      });
    const res = { setHeader } as unknown as Response;
    const outcome = pages.read(res, { accountId, offset }, work).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : "";
      return [message, ...Object.entries(headers).flat()].join(" ");
    });
    await settled();
    return { outcome };
  };
  const end = async (accountId: string, fault?: Error): Promise<void> => {
    ends.get(accountId)?.(fault);
    await settled();
  };
  return { ask, clock, end, metrics, reading };
};

const refused = "429 Retry-After 1";

/** Lets everything run that only waits for its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("deep pages (rule API-26)", () => {
  test("are read one at a time, in the order in which accounts ask", async () => {
    const { ask, end, reading } = open();
    const asked = [await ask("a"), await ask("b"), await ask("c")];
    expect(reading).toEqual(["a"]);
    await end("a");
    expect(reading).toEqual(["a", "b"]);
    await end("b");
    await end("c");
    for (const { outcome } of asked) expect(await outcome).toBe("read");
  });

  test("let every other page by", async () => {
    const { ask, end, reading } = open();
    const asked = [await ask("a"), await ask("b", deepOffsetMin - 1), await ask("a", 0)];
    expect(reading).toEqual(["a", "b", "a"]);
    expect(asked).toHaveLength(3);
    await end("b");
    expect(await asked[1]?.outcome).toBe("read");
  });

  test("are one for each account: a second is refused at once, and a later one is read", async () => {
    const { ask, end, metrics } = open();
    const first = await ask("a");
    const waits = await ask("b");
    for (const again of ["a", "a", "b", "b"]) {
      expect(await (await ask(again)).outcome).toBe(refused);
    }
    await end("a");
    await end("b");
    expect([await first.outcome, await waits.outcome]).toEqual(["read", "read"]);
    const again = await ask("a");
    await end("a");
    expect(await again.outcome).toBe("read");
    const told = await metrics.metrics();
    expect(told).toMatch(/payment_links_deep_pages_total\{.*outcome="read".*\} 3/);
    expect(told).toMatch(/payment_links_deep_pages_total\{.*outcome="refused".*\} 4/);
  });

  test("wait for three seconds at most, and pass nobody's turn on to who has gone", async () => {
    const { ask, clock, end, reading } = open();
    const first = await ask("a");
    const impatient = await ask("b");
    clock.advance(1_000);
    const patient = await ask("c");
    clock.advance(1_999);
    await settled();
    clock.advance(1);
    expect(await impatient.outcome).toBe(refused);
    await end("a", new Error("gone"));
    expect(await first.outcome).toBe("gone");
    expect(reading).toEqual(["a"]);
    clock.advance(1_000);
    expect(await patient.outcome).toBe(refused);
    const late = await ask("d");
    clock.advance(2_000);
    await settled();
    expect(reading).toEqual(["a", "d"]);
    await end("d");
    expect(await late.outcome).toBe("read");
  });

  test("leave half of the time to others: a turn is followed by a rest as long as it took", async () => {
    const { ask, clock, end, reading } = open();
    const first = await ask("a");
    const second = await ask("b");
    clock.advance(400);
    await end("a");
    expect(await first.outcome).toBe("read");
    clock.advance(399);
    await settled();
    expect(reading).toEqual(["a"]);
    clock.advance(1);
    await settled();
    expect(reading).toEqual(["a", "b"]);
    await end("b");
    expect(await second.outcome).toBe("read");
  });

  test("that fail give their turn on", async () => {
    const { ask, end } = open();
    const [first, second] = [await ask("a"), await ask("b")];
    await end("a", new Error("no database"));
    expect(await first.outcome).toBe("no database");
    await end("b");
    expect(await second.outcome).toBe("read");
  });

  test("queue in bounded number", async () => {
    const { ask, end } = open();
    const asked = [];
    for (let index = 0; index <= 100; index += 1) asked.push(await ask(`account ${index}`));
    expect(await (await ask("one more")).outcome).toBe(refused);
    for (let index = 0; index <= 100; index += 1) await end(`account ${index}`);
    for (const { outcome } of asked) expect(await outcome).toBe("read");
  });
});
