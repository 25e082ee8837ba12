import { describe, expect, test } from "@jest/globals";
import { createLastUses } from "./last-uses.ts";

const at = (ms: number): Date => new Date(ms);

describe("createLastUses", () => {
  test("keeps the latest use of each, in whatever order they are noted", () => {
    const uses = createLastUses();
    uses.note({ id: "a", at: at(2) });
    uses.note({ id: "a", at: at(1) });
    uses.note({ id: "b", at: at(1) });
    uses.note({ id: "b", at: at(3) });
    expect(uses.take()).toEqual([
      { id: "a", at: at(2) },
      { id: "b", at: at(3) },
    ]);
    expect(uses.take()).toEqual([]);
  });

  test("above its limit it passes over new credentials, never those it has", () => {
    const uses = createLastUses(2);
    for (const id of ["a", "b", "c"]) uses.note({ id, at: at(1) });
    uses.note({ id: "a", at: at(5) });
    expect(uses.take()).toEqual([
      { id: "a", at: at(5) },
      { id: "b", at: at(1) },
    ]);
  });
});
