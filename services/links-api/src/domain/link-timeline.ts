import { timelineEntryKinds } from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** The kinds of timeline entries. */
export type TimelineEntryKind = (typeof timelineEntryKinds)[number];

/**
 * The position of an entry in a link's timeline: its time, its kind, and its payment, if any. If
 * the time was not recorded, the entry uses the time of the entry before it.
 */
export type TimelinePosition = { at: Date; kind: TimelineEntryKind; paymentId: string | null };

/** The fields of a link from which its own timeline entries follow. */
export type LinkLifecycle = Pick<
  Link,
  "createdAt" | "deactivatedAt" | "expiresAt" | "lastTransactionId" | "status"
> & { lastAppliedAt: Date | null };

/** Returns the timeline positions of the link itself, without its payments. */
export const listLinkPositions = (link: LinkLifecycle, now: Date): TimelinePosition[] => {
  const { createdAt, deactivatedAt, expiresAt, lastAppliedAt, lastTransactionId } = link;
  const completedAt = link.status === "completed" ? lastAppliedAt : null;
  // A completed link accepts no more payments, so the last applied payment completed it.
  const isExpired =
    expiresAt !== null &&
    expiresAt <= now &&
    deactivatedAt === null &&
    (completedAt === null || completedAt >= expiresAt);
  const positions: (TimelinePosition | undefined)[] = [
    { at: createdAt, kind: "created", paymentId: null },
    isExpired ? { at: expiresAt, kind: "expired", paymentId: null } : undefined,
    completedAt === null
      ? undefined
      : { at: completedAt, kind: "completed", paymentId: lastTransactionId },
    deactivatedAt === null
      ? undefined
      : { at: deactivatedAt, kind: "deactivated", paymentId: null },
  ];
  return positions.filter((position) => position !== undefined);
};

/** Returns the order of a kind among entries of the same instant. */
export const getKindRank = (kind: TimelineEntryKind): number => timelineEntryKinds.indexOf(kind);

/** Formats a position as the cursor from which a caller continues. */
export const formatTimelineCursor = ({ at, kind, paymentId }: TimelinePosition): string =>
  [at.getTime(), kind, paymentId ?? ""].join(".");

/** Parses a cursor that the request schema has already validated. Throws if its kind is unknown. */
export const parseTimelineCursor = (cursor: string): TimelinePosition => {
  const [ms, kindText, paymentId = ""] = cursor.split(".");
  const kind = timelineEntryKinds.find((timelineKind) => timelineKind === kindText);
  if (kind === undefined) throw new Error(`${cursor} is not a timeline cursor`);
  return { at: new Date(Number(ms)), kind, paymentId: paymentId === "" ? null : paymentId };
};
