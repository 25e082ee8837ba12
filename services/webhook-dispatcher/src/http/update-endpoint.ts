import type { Request, Response } from "express";
import { publishAudit } from "@payment-links/bus";
import { EndpointChange, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { showEndpoint } from "../domain/endpoint.ts";
import { abandonDeliveries, abandonQueue } from "../store/ended-deliveries.ts";
import { lockEndpoints, updateEndpoint as storeEndpoint } from "../store/endpoints.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/** PATCH /console/api/webhook-endpoints/{id}: renames, enables or disables (rule HOOK-6). */
export const updateEndpoint =
  ({ clock, pool, leaveEndpoint, wakeRelay }: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { name, enabled } = await readBody(req, EndpointChange);
    const id = readEndpointId(req);
    const userId = account.id;
    const abandonment = { userId, endpointId: id, reason: "endpoint disabled" } as const;
    if (enabled === false) await abandonQueue(pool, abandonment);
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      if (enabled === false) await abandonDeliveries(tx, abandonment);
      const changed = await storeEndpoint(tx, { userId, id }, { name, enabled });
      if (changed === null) throw refuse("NOT_FOUND");
      await publishAudit(tx, {
        ...personActor(req, credential),
        at: clock.now(),
        accountId: userId,
        action: "webhook_endpoint.changed",
        targetId: id,
        detail: {
          ...(name === undefined ? {} : { name }),
          ...(enabled === undefined ? {} : { enabled }),
        },
      });
      return changed;
    });
    wakeRelay();
    if (enabled === false) leaveEndpoint(id);
    answerJson(res, 200, showEndpoint(endpoint));
  };
