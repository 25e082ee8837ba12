import type { Request, Response } from "express";
import { type Overview, OverviewQuery, formatAmount } from "@payment-links/contracts";
import { sendJson, parseQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import {
  countLinks,
  countUnappliedPayments,
  listDailyReceived,
  listUnappliedPayments,
} from "../store/overview.ts";
import { serializeOwnPayment } from "./serialize-payment.ts";

const daysDefault = 30;
const unappliedPaymentsMax = 20;
const dayMs = 24 * 60 * 60 * 1000;

/** GET /console/api/overview: summarizes the account's money and links (rule CALLER-25). */
export const getOverview =
  ({ clock, pool, getToken }: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { days = daysDefault } = parseQuery(req, OverviewQuery);
    const userId = account.id;
    const now = clock.now();
    const fromDay = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10);
    // The queries run one after the other, because this page is loaded often and would otherwise
    // use four connections.
    const received = await listDailyReceived(pool, { fromDay, userId });
    const links = await countLinks(pool, { now, userId });
    const unapplied = await countUnappliedPayments(pool, userId);
    const payments = await listUnappliedPayments(pool, { userId, limit: unappliedPaymentsMax });
    const tokenIds = new Set(received.map(({ tokenId }) => tokenId));
    const overview: Overview = {
      received: received.map((entry) => ({ ...entry, amount: formatAmount(entry.amount) })),
      tokens: [...tokenIds].map((id) => ({ id, token: getToken(id).tokenData })),
      links,
      unapplied: { ...unapplied, payments: payments.map(serializeOwnPayment) },
    };
    sendJson(res, 200, overview);
  };
