import { describe, expect, test } from "@jest/globals";
import { createLastUses } from "./last-uses.ts";

/** A use at an instant, from an address that tells which use it was. */
const use = (id: string, ms: number) => ({ id, at: new Date(ms), address: `192.0.2.${ms}` });

describe("createLastUses", () => {
  test("keeps the latest use of each, in whatever order they are noted", () => {
    const uses = createLastUses();
    uses.note(use("a", 2));
    uses.note(use("a", 1));
    uses.note(use("b", 1));
    uses.note(use("b", 3));
    expect(uses.take()).toEqual([use("a", 2), use("b", 3)]);
    expect(uses.take()).toEqual([]);
  });

  test("above its limit it passes over new credentials, never those it has", () => {
    const uses = createLastUses(2);
    for (const id of ["a", "b", "c"]) uses.note(use(id, 1));
    uses.note(use("a", 5));
    expect(uses.take()).toEqual([use("a", 5), use("b", 1)]);
  });
});
