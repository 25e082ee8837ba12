import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { abandonDeliveries, abandonQueue } from "../store/ended-deliveries.ts";
import { lockEndpoints, deleteEndpoint as markDeleted } from "../store/endpoints.ts";
import { parseId } from "./parse-id.ts";

/**
 * DELETE /console/api/webhook-endpoints/{id}: deletes an endpoint and abandons its pending
 * deliveries. Its log can still be read.
 */
export const deleteEndpoint =
  ({ pool, clock, dispatcher, wakeRelay }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const id = parseId(req, "whe");
    const userId = account.id;
    const now = clock.now();
    const abandonment = { userId, endpointId: id, reason: "endpoint deleted" } as const;
    await abandonQueue(pool, abandonment);
    await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      await abandonDeliveries(tx, abandonment);
      if (!(await markDeleted(tx, { userId, id }, now))) throw createApiError("NOT_FOUND");
      await publishAuditEvent(tx, {
        ...createSessionActor(req, credential),
        at: now,
        accountId: userId,
        action: "webhook_endpoint.deleted",
        targetId: id,
      });
    });
    wakeRelay();
    dispatcher.stopEndpoint(id);
    res.status(204).end();
  };
