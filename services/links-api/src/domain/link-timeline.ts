import { timelineEntryKinds } from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** The kinds of timeline entries. */
export type TimelineEntryKind = (typeof timelineEntryKinds)[number];

/**
 * The position of an entry in a link's timeline: its time, its kind, and the id of its payment or
 * refund, if any. If the time was not recorded, the position uses the time of the previous entry.
 */
export type TimelinePosition = { at: Date; kind: TimelineEntryKind; subjectId: string | null };

/** The fields of a link that determine the timeline entries of the link itself. */
export type LinkLifecycle = Pick<
  Link,
  "createdAt" | "deactivatedAt" | "expiresAt" | "lastTransactionId" | "status"
> & { lastAppliedAt: Date | null };

/** Returns the timeline positions of the link itself, without those of its payments. */
export const listLinkPositions = (link: LinkLifecycle, now: Date): TimelinePosition[] => {
  const { createdAt, deactivatedAt, expiresAt, lastAppliedAt, lastTransactionId } = link;
  const completedAt = link.status === "completed" ? lastAppliedAt : null;
  // A completed link does not accept more payments, so the last applied payment completed it.
  const isExpired =
    expiresAt !== null &&
    expiresAt <= now &&
    deactivatedAt === null &&
    (completedAt === null || completedAt >= expiresAt);
  const positions: (TimelinePosition | undefined)[] = [
    { at: createdAt, kind: "created", subjectId: null },
    isExpired ? { at: expiresAt, kind: "expired", subjectId: null } : undefined,
    completedAt === null
      ? undefined
      : { at: completedAt, kind: "completed", subjectId: lastTransactionId },
    deactivatedAt === null
      ? undefined
      : { at: deactivatedAt, kind: "deactivated", subjectId: null },
  ];
  return positions.filter((position) => position !== undefined);
};

/** Returns the sort order of a kind among entries with the same time. */
export const getKindRank = (kind: TimelineEntryKind): number => timelineEntryKinds.indexOf(kind);

/** Formats a position as a pagination cursor. */
export const formatTimelineCursor = ({ at, kind, subjectId }: TimelinePosition): string =>
  [at.getTime(), kind, subjectId ?? ""].join(".");

/** Parses a cursor that the request schema has already validated. Throws if its kind is unknown. */
export const parseTimelineCursor = (cursor: string): TimelinePosition => {
  const [ms, kindText, subjectId = ""] = cursor.split(".");
  const kind = timelineEntryKinds.find((timelineKind) => timelineKind === kindText);
  if (kind === undefined) throw new Error(`${cursor} is not a timeline cursor`);
  return { at: new Date(Number(ms)), kind, subjectId: subjectId === "" ? null : subjectId };
};
