import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { EndpointChange, createApiError } from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeEndpoint } from "../domain/endpoint.ts";
import { abandonDeliveries, abandonQueue } from "../store/ended-deliveries.ts";
import { lockEndpoints, updateEndpoint as storeEndpoint } from "../store/endpoints.ts";
import { parseId } from "./parse-id.ts";

/**
 * PATCH /console/api/webhook-endpoints/{id}: renames, enables or disables an endpoint (rule
 * HOOK-6).
 */
export const updateEndpoint =
  ({ clock, dispatcher, pool, wakeRelay }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { name, enabled } = await readJsonBody(req, EndpointChange);
    const id = parseId(req, "whe");
    const userId = account.id;
    const abandonment = { userId, endpointId: id, reason: "endpoint disabled" } as const;
    if (enabled === false) await abandonQueue(pool, abandonment);
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      if (enabled === false) await abandonDeliveries(tx, abandonment);
      const updatedEndpoint = await storeEndpoint(tx, { userId, id }, { name, enabled });
      if (updatedEndpoint === null) throw createApiError("NOT_FOUND");
      await publishAuditEvent(tx, {
        ...createSessionActor(req, credential),
        at: clock.now(),
        accountId: userId,
        action: "webhook_endpoint.changed",
        targetId: id,
        detail: {
          ...(name === undefined ? {} : { name }),
          ...(enabled === undefined ? {} : { enabled }),
        },
      });
      return updatedEndpoint;
    });
    wakeRelay();
    if (enabled === false) dispatcher.stopEndpoint(id);
    sendJson(res, 200, serializeEndpoint(endpoint));
  };
