import type { Request, Response } from "express";
import { type Overview, OverviewQuery, formatAmount } from "@payment-links/contracts";
import { answerJson, readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { countLinks, countUnapplied, listReceived, listUnapplied } from "../store/overview.ts";
import { showOwnPayment } from "./show-payment.ts";

const daysDefault = 30;
const unappliedMax = 20;
const dayMs = 24 * 60 * 60 * 1000;

/** GET /console/api/overview: money and links of the account at a glance (rule CALLER-25). */
export const getOverview =
  ({ clock, pool, tokenOf }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { days = daysDefault } = readQuery(req, OverviewQuery);
    const userId = account.id;
    const now = clock.now();
    const fromDay = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10);
    // One after another: a page that is looked at often takes one connection, not four.
    const received = await listReceived(pool, { fromDay, userId });
    const links = await countLinks(pool, { now, userId });
    const unapplied = await countUnapplied(pool, userId);
    const payments = await listUnapplied(pool, { userId, limit: unappliedMax });
    const tokenIds = new Set(received.map(({ tokenId }) => tokenId));
    const overview: Overview = {
      received: received.map((one) => ({ ...one, amount: formatAmount(one.amount) })),
      tokens: [...tokenIds].map((id) => ({ id, token: tokenOf(id).shown })),
      links,
      unapplied: { ...unapplied, payments: payments.map(showOwnPayment) },
    };
    answerJson(res, 200, overview);
  };
