import type { Request, Response } from "express";
import { publishAudit } from "@payment-links/bus";
import { refuse } from "@payment-links/contracts";
import { personActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { abandonDeliveries, abandonQueue } from "../store/ended-deliveries.ts";
import { lockEndpoints, deleteEndpoint as markDeleted } from "../store/endpoints.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/** DELETE /console/api/webhook-endpoints/{id}: abandons what is queued; the log stays readable. */
export const deleteEndpoint =
  ({ pool, clock, leaveEndpoint, wakeRelay }: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const id = readEndpointId(req);
    const userId = account.id;
    const now = clock.now();
    const abandonment = { userId, endpointId: id, reason: "endpoint deleted" } as const;
    await abandonQueue(pool, abandonment);
    await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      await abandonDeliveries(tx, abandonment);
      if (!(await markDeleted(tx, { userId, id }, now))) throw refuse("NOT_FOUND");
      await publishAudit(tx, {
        ...personActor(req, credential),
        at: now,
        accountId: userId,
        action: "webhook_endpoint.deleted",
        targetId: id,
      });
    });
    wakeRelay();
    leaveEndpoint(id);
    res.status(204).end();
  };
