import type { LinkDeliveryData, StoryEntry } from "../../api/operations.ts";

/** The entries of one source that are loaded so far, newest first. */
type LoadedEntries<Entry> = { entries: readonly Entry[]; isComplete: boolean };

type Source = "timeline" | "deliveries";

/** An entry of a link's activity. */
type ActivityItem =
  | { source: "timeline"; entry: StoryEntry }
  | { source: "deliveries"; entry: LinkDeliveryData };

/** The merged entries, and the source that must load more entries before the next one is known. */
export type Activity = { items: ActivityItem[]; nextSource: Source | undefined };

/**
 * Merges the timeline of a link with its webhook deliveries, newest first. Stops where one source
 * has more entries that are not loaded yet, because the next entry could be one of them.
 */
export const mergeActivity = (
  timeline: LoadedEntries<StoryEntry>,
  deliveries: LoadedEntries<LinkDeliveryData>,
): Activity => {
  const items: ActivityItem[] = [];
  let timelineIndex = 0;
  let deliveryIndex = 0;
  for (;;) {
    const entry = timeline.entries[timelineIndex];
    const delivery = deliveries.entries[deliveryIndex];
    if (entry === undefined && !timeline.isComplete) return { items, nextSource: "timeline" };
    if (delivery === undefined && !deliveries.isComplete) {
      return { items, nextSource: "deliveries" };
    }
    // An event is delivered after it happened, so at the same time the delivery is newer.
    if (
      delivery !== undefined &&
      (entry === undefined || Date.parse(delivery.dateCreated) >= getTime(entry))
    ) {
      items.push({ source: "deliveries", entry: delivery });
      deliveryIndex += 1;
    } else if (entry === undefined) {
      return { items, nextSource: undefined };
    } else {
      items.push({ source: "timeline", entry });
      timelineIndex += 1;
    }
  }
};

/** An entry without a time is listed directly after the payment was seen. */
const getTime = ({ at, payment }: StoryEntry): number =>
  Date.parse(at ?? payment?.dateCreated ?? "");
