import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { createApiError } from "@payment-links/contracts";
import { sendJson, createSessionActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { lockLinks } from "../store/links.ts";
import { getOwnLink } from "./get-own-link.ts";
import { saveEndedLink } from "./save-ended-link.ts";
import { requireHandle, serializeLink } from "./serialize-link.ts";

/**
 * POST /console/api/payment-links/:id/deactivate: deactivates an active link, which then no longer
 * accepts payments (rule STATE-4).
 */
export const deactivateOwnLink =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { id } = await getOwnLink(dependencies, req, caller);
    const now = dependencies.clock.now();
    await transact(dependencies.pool, async (tx) => {
      const lockedLink = (await lockLinks(tx, [id])).get(id);
      if (lockedLink === undefined) throw createApiError("NOT_FOUND");
      await saveEndedLink(tx, "deactivate", { link: lockedLink, now });
      await publishAuditEvent(tx, {
        ...createSessionActor(req, caller.credential),
        at: now,
        accountId: lockedLink.userId,
        action: "payment_link.deactivated",
        targetId: id,
      });
    });
    dependencies.counters.countStatusChange("active", "inactive");
    dependencies.wakeRelay();
    const link = await getOwnLink(dependencies, req, caller);
    sendJson(
      res,
      200,
      serializeLink(dependencies, link, { handle: requireHandle(caller.account), now }),
    );
  };
