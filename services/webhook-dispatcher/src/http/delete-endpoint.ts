import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { lockEndpoints, deleteEndpoint as markDeleted } from "../store/endpoints.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/** DELETE /console/api/webhook-endpoints/{id}: abandons what is queued; the log stays readable. */
export const deleteEndpoint =
  ({ pool, clock, leaveEndpoint }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const id = readEndpointId(req);
    const userId = account.id;
    const isDeleted = await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      await abandonDeliveries(tx, { userId, endpointId: id, reason: "endpoint deleted" });
      return markDeleted(tx, { userId, id }, clock.now());
    });
    if (!isDeleted) throw refuse("NOT_FOUND");
    leaveEndpoint(id);
    res.status(204).end();
  };
