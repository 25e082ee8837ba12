import type { Request, Response } from "express";
import { LinkDeliveriesQuery, isId } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showLinkDelivery } from "../domain/delivery.ts";
import { listLinkDeliveries as findDeliveries } from "../store/logged-deliveries.ts";

/**
 * GET /console/api/webhook-deliveries?linkId=: what was told about one of the account's links, to
 * whichever endpoint, deleted ones too; newest first, ten per page.
 */
export const listLinkDeliveries =
  ({ deepPages, pool }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { linkId, offset = 0 } = readQuery(req, LinkDeliveriesQuery);
    const wanted = { userId: account.id, linkId, offset };
    const deliveries = isId("plink", linkId)
      ? await deepPages.read(res, { accountId: account.id, offset }, () =>
          findDeliveries(pool, wanted),
        )
      : [];
    answerJson(res, 200, showPage(deliveries, offset, showLinkDelivery));
  };
