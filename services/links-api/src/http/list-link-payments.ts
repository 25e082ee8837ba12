import type { Request, Response } from "express";
import { PageQuery, pageSize } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { listPayments } from "../store/payments.ts";
import { getOwnLink } from "./own-link.ts";
import { showPayment } from "./show-payment.ts";

/** GET /console/api/payment-links/:id/payments: all payments of an own link, newest first. */
export const listLinkPayments =
  (deps: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const link = await getOwnLink(deps, req, caller);
    const offset = readQuery(req, PageQuery).offset ?? 0;
    const page = { linkId: link.id, offset, limit: pageSize + 1 };
    const payments = await deps.deepPages.read(res, { accountId: caller.account.id, offset }, () =>
      listPayments(deps.pool, page),
    );
    answerJson(res, 200, showPage(payments, offset, showPayment));
  };
