import type { Request, Response } from "express";
import {
  type Overview,
  OverviewQuery,
  type TokenData,
  formatAmount,
  recentPaymentsMax,
  serializeToken,
} from "@payment-links/contracts";
import { sendJson, parseQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import {
  countLinks,
  countUnappliedPayments,
  listDailyReceived,
  listRecentPayments,
  listUnappliedPayments,
} from "../store/overview.ts";
import { serializeOwnPayment } from "./serialize-payment.ts";

const daysDefault = 30;
const unappliedPaymentsMax = 20;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * GET /console/api/overview: summarizes the account's money and links of a mode (rule
 * CALLER-25).
 */
export const getOverview =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { clock, pool, getToken } = dependencies;
    const { days = daysDefault, mode = "live" } = parseQuery(req, OverviewQuery);
    const userId = account.id;
    const now = clock.now();
    const fromDay = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10);
    // The queries run one after the other, because this page is loaded often and would otherwise
    // use five connections.
    const received = await listDailyReceived(pool, { fromDay, mode, userId });
    const links = await countLinks(pool, { mode, now, userId });
    const unapplied = await countUnappliedPayments(pool, { mode, userId });
    const payments = await listUnappliedPayments(pool, {
      userId,
      mode,
      limit: unappliedPaymentsMax,
    });
    const recentPayments = await listRecentPayments(pool, {
      userId,
      mode,
      limit: recentPaymentsMax,
    });
    const tokenIds = new Set(received.map(({ tokenId }) => tokenId));
    const overview: Overview = {
      received: received.map((entry) => ({ ...entry, amount: formatAmount(entry.amount) })),
      tokens: [...tokenIds].map((id) => ({ id, token: getToken(id).tokenData })),
      links,
      unapplied: {
        ...unapplied,
        payments: payments.map((payment) => serializeOwnPayment(dependencies, payment)),
      },
      recentPayments: recentPayments.map((payment) => ({
        ...serializeOwnPayment(dependencies, payment),
        description: payment.description,
        token: serializeTokenOf(dependencies, payment),
      })),
    };
    sendJson(res, 200, overview);
  };

/**
 * Serializes the token of a payment, which can be one that is mistaken for a token of the
 * catalogue. Returns null for an unknown token.
 */
const serializeTokenOf = (
  { catalogue, checkoutUrl }: Dependencies,
  { chainId, tokenAddress }: Payment,
): TokenData | null => {
  const token = catalogue.findTokenByAddress(chainId, tokenAddress);
  return token === undefined ? null : serializeToken(token, checkoutUrl);
};
