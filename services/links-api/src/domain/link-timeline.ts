import { timelineEntryKinds } from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** What can happen with a link. */
export type TimelineEntryKind = (typeof timelineEntryKinds)[number];

/**
 * Where something stands in a link's story: when it happened, what it was, and of which payment, if of
 * one. Where the time was not written down, it stands at the time before it.
 */
export type TimelinePosition = { at: Date; kind: TimelineEntryKind; paymentId: string | null };

/** What is known of a link's own life. */
export type LinkLifecycle = Pick<
  Link,
  "createdAt" | "deactivatedAt" | "expiresAt" | "lastTransactionId" | "status"
> & { lastAppliedAt: Date | null };

/** What happened with the link itself, whatever its payments did. */
export const listLinkPositions = (link: LinkLifecycle, now: Date): TimelinePosition[] => {
  const { createdAt, deactivatedAt, expiresAt, lastAppliedAt, lastTransactionId } = link;
  const completedAt = link.status === "completed" ? lastAppliedAt : null;
  // Nothing counts on a completed link: the payment that counted last has completed it.
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

/** The rank of a kind among things of one instant. */
export const getKindRank = (kind: TimelineEntryKind): number => timelineEntryKinds.indexOf(kind);

/** A place as a caller hands it back, to read on behind it. */
export const formatTimelineCursor = ({ at, kind, paymentId }: TimelinePosition): string =>
  [at.getTime(), kind, paymentId ?? ""].join(".");

/** Reads a place that was handed back, and has the form of one. */
export const parseTimelineCursor = (cursor: string): TimelinePosition => {
  const [ms, kindText, paymentId = ""] = cursor.split(".");
  const kind = timelineEntryKinds.find((timelineKind) => timelineKind === kindText);
  if (kind === undefined) throw new Error(`${cursor} is no place in a story`);
  return { at: new Date(Number(ms)), kind, paymentId: paymentId === "" ? null : paymentId };
};
