import { describe, expect, test } from "@jest/globals";
import { createLastUses } from "./last-uses.ts";

/**
 * Creates a use at the given time. The address is unique per time, so a test can tell uses apart.
 */
const createUse = (id: string, ms: number) => ({ id, at: new Date(ms), address: `192.0.2.${ms}` });

describe("createLastUses", () => {
  test("keeps the latest use of each credential, in whatever order they are recorded", () => {
    const lastUses = createLastUses();
    lastUses.record(createUse("a", 2));
    lastUses.record(createUse("a", 1));
    lastUses.record(createUse("b", 1));
    lastUses.record(createUse("b", 3));
    expect(lastUses.drain()).toEqual([createUse("a", 2), createUse("b", 3)]);
    expect(lastUses.drain()).toEqual([]);
  });

  test("skips new credentials above its limit, but still updates known ones", () => {
    const lastUses = createLastUses(2);
    for (const id of ["a", "b", "c"]) lastUses.record(createUse(id, 1));
    lastUses.record(createUse("a", 5));
    expect(lastUses.drain()).toEqual([createUse("a", 5), createUse("b", 1)]);
  });
});
