import { describe, expect, test } from "@jest/globals";
import {
  type ClaimedAccount,
  createRejectedSignIns,
  getReportedOrdinals,
} from "./rejected-sign-ins.ts";

const at = new Date("2026-11-21T10:00:00.000Z");
const actorFields = { address: "192.0.2.1", userAgent: null, method: "siwe" };
const actor = { actor: { kind: "visitor", id: null, operator: null }, ...actorFields } as const;
const createClaim = (accountId: string): ClaimedAccount => ({ by: "account", accountId });
const createRejection = (accountId: string, reason = "INVALID_SIWE_MESSAGE") =>
  ({
    action: "session.refused",
    method: "siwe",
    claimedAccount: createClaim(accountId),
    at,
    actor,
    reason,
  }) as const;

describe("getReportedOrdinals", () => {
  test("returns the first 10 of an hour and then each power of 10 once, for any step size", () => {
    const expectedOrdinals = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1_000, 10_000];
    expect(getReportedOrdinals(0, 99_999)).toEqual(expectedOrdinals);
    for (const stepSize of [1, 3, 10, 7_777]) {
      const reportedOrdinals = [];
      for (let previousCount = 0; previousCount < 99_999; previousCount += stepSize) {
        reportedOrdinals.push(
          ...getReportedOrdinals(previousCount, Math.min(stepSize, 99_999 - previousCount)),
        );
      }
      expect(reportedOrdinals).toEqual(expectedOrdinals);
    }
  });
});

describe("createRejectedSignIns", () => {
  test("keeps the first 10 rejections of a group, the last one and the count", () => {
    const rejectedSignIns = createRejectedSignIns();
    for (let count = 1; count <= 5_000; count += 1)
      rejectedSignIns.record(createRejection("user_1", `R${count}`));
    const [group, ...otherGroups] = rejectedSignIns.drain();
    expect(otherGroups).toEqual([]);
    expect(group).toMatchObject({ count: 5_000, lastRejection: { reason: "R5000" } });
    expect(group?.firstRejections.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 10 }, (_, index) => `R${index + 1}`),
    );
    expect(rejectedSignIns.drain()).toEqual([]);
  });

  test("is bounded: a flood of invented names does not evict known ones", () => {
    const rejectedSignIns = createRejectedSignIns(3);
    for (const name of ["a", "b", "c", "d", "a"]) rejectedSignIns.record(createRejection(name));
    const counts = rejectedSignIns
      .drain()
      .map(({ claimedAccount, count }) => [claimedAccount, count]);
    expect(counts).toEqual([
      [createClaim("a"), 2],
      [createClaim("b"), 1],
      [createClaim("c"), 1],
    ]);
  });

  test("holds 1,000 groups by default", () => {
    const rejectedSignIns = createRejectedSignIns();
    for (let count = 0; count <= 1_000; count += 1)
      rejectedSignIns.record(createRejection(`user_${count}`));
    expect(rejectedSignIns.drain()).toHaveLength(1_000);
  });

  test("counts each action and each method separately, even for the same account", () => {
    const rejectedSignIns = createRejectedSignIns();
    rejectedSignIns.record(createRejection("a"));
    rejectedSignIns.record({ ...createRejection("a"), action: "session.presence_refused" });
    rejectedSignIns.record({ ...createRejection("a"), method: "passkey" });
    expect(rejectedSignIns.drain()).toMatchObject([
      { action: "session.refused", method: "siwe", count: 1 },
      { action: "session.presence_refused", method: "siwe", count: 1 },
      { action: "session.refused", method: "passkey", count: 1 },
    ]);
  });

  test("restores attempts that could not be written, and adds them to newer ones", () => {
    const rejectedSignIns = createRejectedSignIns();
    for (let count = 0; count < 2; count += 1) rejectedSignIns.record(createRejection("a"));
    const drained = rejectedSignIns.drain();
    rejectedSignIns.record(createRejection("a"));
    rejectedSignIns.restore(drained);
    expect(rejectedSignIns.drain()).toMatchObject([
      { count: 3, firstRejections: [{ at }, { at }, { at }] },
    ]);
  });
});
