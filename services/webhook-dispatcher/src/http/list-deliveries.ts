import type { Request, Response } from "express";
import { ListDeliveriesQuery, refuse } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showDelivery } from "../domain/delivery.ts";
import { hadEndpoint } from "../store/endpoints.ts";
import { listDeliveries as findDeliveries } from "../store/logged-deliveries.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/**
 * GET /console/api/webhook-endpoints/{id}/deliveries: its log, or what of it has a status or a type,
 * newest first, ten per page.
 */
export const listDeliveries =
  ({ deepPages, pool }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { offset = 0, ...filters } = readQuery(req, ListDeliveriesQuery);
    const endpointId = readEndpointId(req);
    const isOwn = await hadEndpoint(pool, { userId: account.id, id: endpointId });
    if (!isOwn) throw refuse("NOT_FOUND");
    const deliveries = await deepPages.read(res, { accountId: account.id, offset }, () =>
      findDeliveries(pool, { endpointId, ...filters, offset }),
    );
    answerJson(res, 200, showPage(deliveries, offset, showDelivery));
  };
