import type { Request, Response } from "express";
import { LinkStoryQuery, type StoryEntry, isId, refuse } from "@payment-links/contracts";
import { answerJson, readParam, readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import {
  type StoryKind,
  type StoryPlace,
  ownPlaces,
  readPlace,
  showPlace,
} from "../domain/link-story.ts";
import type { Payment } from "../domain/payment.ts";
import { findLinkLife, listStory } from "../store/link-story.ts";
import { showPayment } from "./show-payment.ts";

const entriesMax = 50;

/** GET /console/api/payment-links/:id/story: what happened with an own link (rule CALLER-26). */
export const getLinkStory =
  ({ clock, pool }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const linkId = readParam(req, "id");
    const { after: text } = readQuery(req, LinkStoryQuery);
    const after = text === undefined ? undefined : readPlace(text);
    const life = isId("plink", linkId)
      ? await findLinkLife(pool, { linkId, userId: account.id })
      : undefined;
    if (life === undefined) throw refuse("NOT_FOUND");
    const own = ownPlaces(life, clock.now());
    // One more than is shown tells whether anything follows.
    const places = await listStory(pool, { linkId, own, after, limit: entriesMax + 1 });
    const shown = places.slice(0, entriesMax);
    const last = places.length > entriesMax ? shown.at(-1) : undefined;
    answerJson(res, 200, {
      data: shown.map((place) => showEntry(place, life.createdBy)),
      nextAfter: last === undefined ? null : showPlace(last),
    });
  };

const showEntry = (
  { at, kind, payment }: StoryPlace & { payment: Payment | undefined },
  createdBy: string | null,
): StoryEntry => ({
  kind,
  at: isTimeKnown(kind, payment) ? at.toISOString() : null,
  by: kind === "created" && createdBy !== null ? showMaker(createdBy) : null,
  payment: payment === undefined ? null : showPayment(payment),
});

/** Some was written down later than payments were. */
const isTimeKnown = (kind: StoryKind, payment: Payment | undefined): boolean => {
  if (payment === undefined) return true;
  if (kind === "payment_orphaned") return payment.orphanedAt !== null;
  return kind !== "payment_ended" || (payment.endedAt ?? payment.appliedAt) !== null;
};

const showMaker = (id: string) => ({
  kind: id.startsWith("key_") ? ("api_key" as const) : ("session" as const),
  id,
});
