import type { Request, Response } from "express";
import { PageQuery, pageSize } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { listPayments } from "../store/payments.ts";
import { getOwnLink } from "./get-own-link.ts";
import { serializePayment } from "./serialize-payment.ts";

/**
 * GET /console/api/payment-links/:id/payments: lists all payments of one of the account's links,
 * newest first.
 */
export const listLinkPayments =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const link = await getOwnLink(dependencies, req, caller);
    const offset = parseQuery(req, PageQuery).offset ?? 0;
    const range = { linkId: link.id, offset, limit: pageSize + 1 };
    const payments = await dependencies.deepPages.read(
      res,
      { accountId: caller.account.id, offset },
      () => listPayments(dependencies.pool, range),
    );
    const page = serializePage(payments, offset, (payment) =>
      serializePayment(dependencies, payment),
    );
    sendJson(res, 200, page);
  };
