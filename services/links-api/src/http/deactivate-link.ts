import type { Request, Response } from "express";
import { outgoing, publish, publishAudit } from "@payment-links/bus";
import { linkDeactivated, refuse } from "@payment-links/contracts";
import { answerJson, personActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { deactivateLink, linkState } from "../domain/link.ts";
import { lockLinks, updateLink } from "../store/links.ts";
import { getOwnLink } from "./own-link.ts";
import { handleOf, showLink } from "./show-link.ts";

/**
 * POST /console/api/payment-links/:id/deactivate: an active link takes no more payments (rule
 * STATE-4).
 */
export const deactivateOwnLink =
  (deps: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { id } = await getOwnLink(deps, req, caller);
    const now = deps.clock.now();
    await transact(deps.pool, async (tx) => {
      const locked = (await lockLinks(tx, [id])).get(id);
      if (locked === undefined) throw refuse("NOT_FOUND");
      const link = deactivateLink(locked, now);
      await updateLink(tx, link);
      const data = { link: linkState(link, now) };
      await publish(tx, [outgoing(linkDeactivated, { key: id, occurredAt: now, data })]);
      await publishAudit(tx, {
        ...personActor(req, caller.credential),
        at: now,
        accountId: link.userId,
        action: "payment_link.deactivated",
        targetId: id,
      });
    });
    deps.counters.changed("active", "inactive");
    deps.wakeRelay();
    const link = await getOwnLink(deps, req, caller);
    answerJson(res, 200, showLink(deps, link, { handle: handleOf(caller.account), now }));
  };
