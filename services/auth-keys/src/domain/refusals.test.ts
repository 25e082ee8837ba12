import { describe, expect, test } from "@jest/globals";
import { type Claim, createRefusals, toldOrdinals } from "./refusals.ts";

const at = new Date("2026-11-21T10:00:00.000Z");
const place = { address: "192.0.2.1", userAgent: null, method: "siwe" };
const actor = { actor: { kind: "visitor", id: null, operator: null }, ...place } as const;
const claimOf = (accountId: string): Claim => ({ by: "account", accountId });
const refused = (accountId: string, reason = "INVALID_SIWE_MESSAGE") =>
  ({
    action: "session.refused",
    method: "siwe",
    claim: claimOf(accountId),
    at,
    actor,
    reason,
  }) as const;

describe("toldOrdinals", () => {
  test("tells the first ten of an hour and then each power of ten, once, however they come", () => {
    const wanted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1_000, 10_000];
    expect(toldOrdinals(0, 99_999)).toEqual(wanted);
    for (const step of [1, 3, 10, 7_777]) {
      const told = [];
      for (let before = 0; before < 99_999; before += step) {
        told.push(...toldOrdinals(before, Math.min(step, 99_999 - before)));
      }
      expect(told).toEqual(wanted);
    }
  });
});

describe("createRefusals", () => {
  test("keeps of one kind the first ten, the last and the number, however many there are", () => {
    const refusals = createRefusals();
    for (let count = 1; count <= 5_000; count += 1) refusals.note(refused("user_1", `R${count}`));
    const [kind, ...others] = refusals.take();
    expect(others).toEqual([]);
    expect(kind).toMatchObject({ count: 5_000, last: { reason: "R5000" } });
    expect(kind?.first.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 10 }, (_, index) => `R${index + 1}`),
    );
    expect(refusals.take()).toEqual([]);
  });

  test("is bounded: a flood of invented names pushes no known one out", () => {
    const refusals = createRefusals(3);
    for (const name of ["a", "b", "c", "d", "a"]) refusals.note(refused(name));
    const counts = refusals.take().map(({ claim, count }) => [claim, count]);
    expect(counts).toEqual([
      [claimOf("a"), 2],
      [claimOf("b"), 1],
      [claimOf("c"), 1],
    ]);
  });

  test("a thousand kinds are remembered where nothing else is said", () => {
    const refusals = createRefusals();
    for (let count = 0; count <= 1_000; count += 1) refusals.note(refused(`user_${count}`));
    expect(refusals.take()).toHaveLength(1_000);
  });

  test("counts each action and each way by itself, though they lead to one account", () => {
    const refusals = createRefusals();
    refusals.note(refused("a"));
    refusals.note({ ...refused("a"), action: "session.presence_refused" });
    refusals.note({ ...refused("a"), method: "passkey" });
    expect(refusals.take()).toMatchObject([
      { action: "session.refused", method: "siwe", count: 1 },
      { action: "session.presence_refused", method: "siwe", count: 1 },
      { action: "session.refused", method: "passkey", count: 1 },
    ]);
  });

  test("takes back what could not be written, and adds it to what came since", () => {
    const refusals = createRefusals();
    for (let count = 0; count < 2; count += 1) refusals.note(refused("a"));
    const taken = refusals.take();
    refusals.note(refused("a"));
    refusals.putBack(taken);
    expect(refusals.take()).toMatchObject([{ count: 3, first: [{ at }, { at }, { at }] }]);
  });
});
