import { describe, expect, test } from "@jest/globals";
import { createLastUses } from "./last-uses.ts";

/** A use at an instant, from an address that tells which use it was. */
const createUse = (id: string, ms: number) => ({ id, at: new Date(ms), address: `192.0.2.${ms}` });

describe("createLastUses", () => {
  test("keeps the latest use of each, in whatever order they are noted", () => {
    const lastUses = createLastUses();
    lastUses.record(createUse("a", 2));
    lastUses.record(createUse("a", 1));
    lastUses.record(createUse("b", 1));
    lastUses.record(createUse("b", 3));
    expect(lastUses.drain()).toEqual([createUse("a", 2), createUse("b", 3)]);
    expect(lastUses.drain()).toEqual([]);
  });

  test("above its limit it passes over new credentials, never those it has", () => {
    const lastUses = createLastUses(2);
    for (const id of ["a", "b", "c"]) lastUses.record(createUse(id, 1));
    lastUses.record(createUse("a", 5));
    expect(lastUses.drain()).toEqual([createUse("a", 5), createUse("b", 1)]);
  });
});
