import { storyKinds } from "@payment-links/contracts";
import type { Link } from "./link.ts";

/** What can happen with a link. */
export type StoryKind = (typeof storyKinds)[number];

/**
 * Where something stands in a link's story: when it happened, what it was, and of which payment, if of
 * one. Where the time was not written down, it stands at the time before it.
 */
export type StoryPlace = { at: Date; kind: StoryKind; paymentId: string | null };

/** What is known of a link's own life. */
export type LinkLife = Pick<
  Link,
  "createdAt" | "deactivatedAt" | "expiresAt" | "lastTransactionId" | "status"
> & { lastAppliedAt: Date | null };

/** What happened with the link itself, whatever its payments did. */
export const ownPlaces = (link: LinkLife, now: Date): StoryPlace[] => {
  const { createdAt, deactivatedAt, expiresAt, lastAppliedAt, lastTransactionId } = link;
  const completedAt = link.status === "completed" ? lastAppliedAt : null;
  // Nothing counts on a completed link: the payment that counted last has completed it.
  const isExpired =
    expiresAt !== null &&
    expiresAt <= now &&
    deactivatedAt === null &&
    (completedAt === null || completedAt >= expiresAt);
  const places: (StoryPlace | undefined)[] = [
    { at: createdAt, kind: "created", paymentId: null },
    isExpired ? { at: expiresAt, kind: "expired", paymentId: null } : undefined,
    completedAt === null
      ? undefined
      : { at: completedAt, kind: "completed", paymentId: lastTransactionId },
    deactivatedAt === null
      ? undefined
      : { at: deactivatedAt, kind: "deactivated", paymentId: null },
  ];
  return places.filter((place) => place !== undefined);
};

/** The rank of a kind among things of one instant. */
export const rankOf = (kind: StoryKind): number => storyKinds.indexOf(kind);

/** A place as a caller hands it back, to read on behind it. */
export const showPlace = ({ at, kind, paymentId }: StoryPlace): string =>
  [at.getTime(), kind, paymentId ?? ""].join(".");

/** Reads a place that was handed back, and has the form of one. */
export const readPlace = (text: string): StoryPlace => {
  const [ms, word, paymentId = ""] = text.split(".");
  const kind = storyKinds.find((one) => one === word);
  if (kind === undefined) throw new Error(`${text} is no place in a story`);
  return { at: new Date(Number(ms)), kind, paymentId: paymentId === "" ? null : paymentId };
};
