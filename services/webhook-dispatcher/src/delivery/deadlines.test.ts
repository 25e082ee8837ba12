import { describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createDeadlines } from "./deadlines.ts";

const start = new Date("2026-11-21T10:00:00.000Z");

const open = () => {
  const clock = createHeldClock(start);
  const deadlines = createDeadlines(clock, 10_000);
  const expired: string[] = [];
  const begin = (name: string) => deadlines.begin(() => void expired.push(name));
  return { clock, expired, begin };
};

describe("deadlines", () => {
  test("each expires at its own time, and one that has ended never does", async () => {
    const { clock, expired, begin } = open();
    const first = begin("first");
    expect(first.at).toEqual(new Date(start.getTime() + 10_000));
    clock.advance(3_000);
    const second = begin("second");
    begin("third");
    first.end();
    clock.advance(9_999);
    second.end();
    expect(expired).toEqual([]);
    clock.advance(1);
    await waitUntil("the third has expired", () => expired.length > 0);
    expect(expired).toEqual(["third"]);
  });

  test("go on after a time with none", async () => {
    const { clock, expired, begin } = open();
    begin("early").end();
    clock.advance(60_000);
    begin("late");
    clock.advance(10_000);
    await waitUntil("it has expired", () => expired.length > 0);
    expect(expired).toEqual(["late"]);
  });

  test("that fall together all expire", async () => {
    const { clock, expired, begin } = open();
    for (const name of ["a", "b", "c"]) begin(name);
    clock.advance(10_000);
    await waitUntil("all have expired", () => expired.length === 3);
  });
});
