import { describe, expect, test } from "@jest/globals";
import { timelineEntryKinds } from "@payment-links/contracts";
import { listLinkPositions, parseTimelineCursor, formatTimelineCursor } from "./link-timeline.ts";

const atSecond = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second));
const link = {
  status: "active" as const,
  createdAt: atSecond(0),
  expiresAt: null,
  deactivatedAt: null,
  lastTransactionId: null,
  lastAppliedAt: null,
};
const completedAt = (second: number) => ({
  status: "completed" as const,
  lastTransactionId: "tx_1",
  lastAppliedAt: atSecond(second),
});

describe("listLinkPositions", () => {
  test.each([
    ["no events", {}, []],
    ["partly paid", { lastTransactionId: "tx_1", lastAppliedAt: atSecond(1) }, []],
    ["expiring later", { expiresAt: atSecond(10) }, []],
    ["expired just now", { expiresAt: atSecond(9) }, [["expired", 9, null]]],
    ["completed", completedAt(5), [["completed", 5, "tx_1"]]],
    [
      "completed before its expiry",
      { ...completedAt(5), expiresAt: atSecond(6) },
      [["completed", 5, "tx_1"]],
    ],
    [
      "completed at the instant of its expiry",
      { ...completedAt(6), expiresAt: atSecond(6) },
      [
        ["expired", 6, null],
        ["completed", 6, "tx_1"],
      ],
    ],
    [
      "completed by a payment that was started before its expiry",
      { ...completedAt(7), expiresAt: atSecond(6) },
      [
        ["expired", 6, null],
        ["completed", 7, "tx_1"],
      ],
    ],
    ["deactivated", { deactivatedAt: atSecond(4) }, [["deactivated", 4, null]]],
    [
      "deactivated before its expiry",
      { deactivatedAt: atSecond(4), expiresAt: atSecond(6) },
      [["deactivated", 4, null]],
    ],
  ] as const)("%s", (_name, overrides, expectedEntries) => {
    const positions = listLinkPositions({ ...link, ...overrides }, atSecond(9));
    const actual = positions.map((position) => [position.kind, position.at, position.subjectId]);
    const expected = expectedEntries.map(([kind, second, subjectId]) => [
      kind,
      atSecond(second),
      subjectId,
    ]);
    expect(actual).toEqual([["created", atSecond(0), null], ...expected]);
  });
});

describe("a timeline cursor", () => {
  test.each(timelineEntryKinds)("parses back to the same position: %s", (kind) => {
    for (const subjectId of [null, `tx_${"0".repeat(26)}`]) {
      const position = { at: atSecond(1), kind, subjectId };
      expect(parseTimelineCursor(formatTimelineCursor(position))).toEqual(position);
    }
  });
});
