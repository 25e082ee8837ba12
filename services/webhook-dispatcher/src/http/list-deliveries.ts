import type { Request, Response } from "express";
import { PageQuery, refuse } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showDelivery } from "../domain/delivery.ts";
import { listDeliveries as findDeliveries } from "../store/delivery-log.ts";
import { hadEndpoint } from "../store/endpoints.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/** GET /console/api/webhook-endpoints/{id}/deliveries: its log, newest first, ten per page. */
export const listDeliveries =
  ({ deepPages, pool }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const offset = readQuery(req, PageQuery).offset ?? 0;
    const endpointId = readEndpointId(req);
    const isOwn = await hadEndpoint(pool, { userId: account.id, id: endpointId });
    if (!isOwn) throw refuse("NOT_FOUND");
    const deliveries = await deepPages.read(res, { accountId: account.id, offset }, () =>
      findDeliveries(pool, { endpointId, offset }),
    );
    answerJson(res, 200, showPage(deliveries, offset, showDelivery));
  };
