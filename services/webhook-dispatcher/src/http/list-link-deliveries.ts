import type { Request, Response } from "express";
import { LinkDeliveriesQuery, isId } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeLinkDelivery } from "../domain/delivery.ts";
import { listLinkDeliveries as findDeliveries } from "../store/logged-deliveries.ts";

/**
 * GET /console/api/webhook-deliveries?linkId=: returns the deliveries of one of the account's links
 * to all endpoints, including deleted ones, newest first, ten per page.
 */
export const listLinkDeliveries =
  ({ deepPages, pool }: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { linkId, mode = "live", offset = 0 } = parseQuery(req, LinkDeliveriesQuery);
    const pageQuery = { userId: account.id, mode, linkId, offset };
    const deliveries = isId("plink", linkId)
      ? await deepPages.read(res, { accountId: account.id, offset }, () =>
          findDeliveries(pool, pageQuery),
        )
      : [];
    sendJson(res, 200, serializePage(deliveries, offset, serializeLinkDelivery));
  };
