import type { Request, Response } from "express";
import {
  LinkTimelineQuery,
  type TimelineEntry,
  isId,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, parsePathParameter, parseQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import {
  type TimelineEntryKind,
  listLinkPositions,
  parseTimelineCursor,
  formatTimelineCursor,
} from "../domain/link-timeline.ts";
import type { Payment } from "../domain/payment.ts";
import { type TimelineRecord, findLinkLifecycle, listTimeline } from "../store/link-timeline.ts";
import { serializePayment } from "./serialize-payment.ts";
import { serializeRefund } from "./serialize-refund.ts";

const entriesMax = 50;

/**
 * GET /console/api/payment-links/:id/story: returns the timeline of one of the account's links
 * (rule CALLER-26).
 */
export const getLinkTimeline =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { clock, pool } = dependencies;
    const linkId = parsePathParameter(req, "id");
    const { after: cursor, order = "asc" } = parseQuery(req, LinkTimelineQuery);
    const after = cursor === undefined ? undefined : parseTimelineCursor(cursor);
    const lifecycle = isId("plink", linkId)
      ? await findLinkLifecycle(pool, { linkId, userId: account.id })
      : undefined;
    if (lifecycle === undefined) throw createApiError("NOT_FOUND");
    const linkPositions = listLinkPositions(lifecycle, clock.now());
    // Reads one entry more than a page contains, to find out whether there is another page.
    const positions = await listTimeline(pool, {
      linkId,
      linkPositions,
      after,
      order,
      limit: entriesMax + 1,
    });
    const pagePositions = positions.slice(0, entriesMax);
    const last = positions.length > entriesMax ? pagePositions.at(-1) : undefined;
    sendJson(res, 200, {
      data: pagePositions.map((position) =>
        serializeTimelineEntry(dependencies, position, lifecycle.createdBy),
      ),
      nextAfter: last === undefined ? null : formatTimelineCursor(last),
    });
  };

const serializeTimelineEntry = (
  dependencies: Dependencies,
  { at, kind, payment, refund }: TimelineRecord,
  createdBy: string | null,
): TimelineEntry => ({
  kind,
  at: isTimeKnown(kind, payment) ? at.toISOString() : null,
  by: kind === "created" && createdBy !== null ? serializeCreator(createdBy) : null,
  payment: payment === undefined ? null : serializePayment(dependencies, payment),
  refund: refund === undefined ? null : serializeRefund(dependencies, refund),
});

/** Returns whether the time of an entry is known. Older payments do not have all times. */
const isTimeKnown = (kind: TimelineEntryKind, payment: Payment | undefined): boolean => {
  if (payment === undefined) return true;
  if (kind === "payment_orphaned") return payment.orphanedAt !== null;
  return kind !== "payment_ended" || (payment.endedAt ?? payment.appliedAt) !== null;
};

const serializeCreator = (credentialId: string) => ({
  kind: credentialId.startsWith("key_") ? ("api_key" as const) : ("session" as const),
  id: credentialId,
});
