import type { Request, Response } from "express";
import { isId, createApiError } from "@payment-links/contracts";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeDetailedDelivery } from "../domain/delivery.ts";
import { hadEndpoint } from "../store/endpoints.ts";
import { findDelivery } from "../store/logged-deliveries.ts";
import { parseId } from "./parse-id.ts";

/**
 * GET /console/api/webhook-endpoints/{id}/deliveries/{deliveryId}: returns one log entry with its
 * attempts and its last request. The signature is computed again, and the secret is not returned.
 */
export const getDelivery =
  ({ headerPrefix, pool, targets }: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const endpointId = parseId(req, "whe");
    const id = parsePathParameter(req, "deliveryId");
    const hasEndpoint =
      isId("evt", id) && (await hadEndpoint(pool, { userId: account.id, id: endpointId }));
    const delivery = hasEndpoint ? await findDelivery(pool, { endpointId, id }) : null;
    if (delivery === null) throw createApiError("NOT_FOUND");
    const target = (await targets.get(pool, [endpointId])).get(endpointId);
    sendJson(res, 200, serializeDetailedDelivery(delivery, { target, headerPrefix }));
  };
