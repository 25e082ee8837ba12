import type { Request, Response } from "express";
import { ListDeliveriesQuery, createApiError } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeDelivery } from "../domain/delivery.ts";
import { hadEndpoint } from "../store/endpoints.ts";
import { listDeliveries as findDeliveries } from "../store/logged-deliveries.ts";
import { parseId } from "./parse-id.ts";

/**
 * GET /console/api/webhook-endpoints/{id}/deliveries: returns the endpoint's log, optionally
 * filtered by status or type, newest first, ten per page.
 */
export const listDeliveries =
  ({ deepPages, pool }: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { offset = 0, ...filters } = parseQuery(req, ListDeliveriesQuery);
    const endpointId = parseId(req, "whe");
    const ownsEndpoint = await hadEndpoint(pool, { userId: account.id, id: endpointId });
    if (!ownsEndpoint) throw createApiError("NOT_FOUND");
    const deliveries = await deepPages.read(res, { accountId: account.id, offset }, () =>
      findDeliveries(pool, { endpointId, ...filters, offset }),
    );
    sendJson(res, 200, serializePage(deliveries, offset, serializeDelivery));
  };
