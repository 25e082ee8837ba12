import { describe, expect, test } from "@jest/globals";
import type { LinkDeliveryData, StoryEntry } from "../../api/operations.ts";
import { type Activity, mergeActivity } from "./merge-activity.ts";

const atSecond = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const createEntry = (kind: StoryEntry["kind"], second: number | null, seenSecond = 0) =>
  ({
    kind,
    at: second === null ? null : atSecond(second),
    payment: { dateCreated: atSecond(seenSecond) },
  }) as StoryEntry;
const createDelivery = (id: string, second: number) =>
  ({ id, dateCreated: atSecond(second) }) as LinkDeliveryData;

const summarize = ({ items, nextSource }: Activity) => [
  items.map((item) => (item.source === "timeline" ? item.entry.kind : item.entry.id)),
  nextSource,
];

describe("mergeActivity", () => {
  test("lists entries of both sources, newest first, and a delivery after its event", () => {
    const timeline = [
      createEntry("completed", 5),
      createEntry("payment_seen", 3),
      createEntry("created", 1),
    ];
    const deliveries = [createDelivery("second", 5), createDelivery("first", 4)];
    const activity = mergeActivity(
      { entries: timeline, isComplete: true },
      { entries: deliveries, isComplete: true },
    );
    expect(summarize(activity)).toEqual([
      ["second", "completed", "first", "payment_seen", "created"],
      undefined,
    ]);
  });

  test("stops where a source is not loaded, and names this source", () => {
    const timeline = { entries: [createEntry("completed", 5)], isComplete: false };
    const deliveries = {
      entries: [createDelivery("second", 6), createDelivery("first", 2)],
      isComplete: false,
    };
    expect(summarize(mergeActivity(timeline, deliveries))).toEqual([
      ["second", "completed"],
      "timeline",
    ]);
    const completeTimeline = { ...timeline, isComplete: true };
    expect(summarize(mergeActivity(completeTimeline, deliveries))).toEqual([
      ["second", "completed", "first"],
      "deliveries",
    ]);
  });

  test("lists an entry without a time at the time at which its payment was seen", () => {
    const timeline = [createEntry("payment_orphaned", null, 4), createEntry("payment_seen", 4)];
    const activity = mergeActivity(
      { entries: timeline, isComplete: true },
      { entries: [createDelivery("later", 5), createDelivery("earlier", 3)], isComplete: true },
    );
    expect(summarize(activity)).toEqual([
      ["later", "payment_orphaned", "payment_seen", "earlier"],
      undefined,
    ]);
  });

  test("of two empty sources is empty", () => {
    const empty = { entries: [], isComplete: true };
    expect(mergeActivity(empty, empty)).toEqual({ items: [], nextSource: undefined });
  });
});
