import type { Request, Response } from "express";
import { CheckoutEventsQuery } from "@payment-links/contracts";
import { readParam, readQuery } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { followedKey } from "../domain/followed-link.ts";
import { paymentNameOn, readCheckoutLink } from "./read-checkout-link.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/payment-links/:id/events: how a link stands, as `GET /checkout/payment-links/:id`
 * tells it, at once and whenever that changes.
 */
export const streamCheckoutLink =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { sourceTransaction } = readQuery(req, CheckoutEventsQuery);
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const payment =
      sourceTransaction === undefined
        ? null
        : paymentNameOn(deps, await readLink(deps, linkId), sourceTransaction);
    const key = followedKey({ linkId, payment });
    await deps.eventStreams.open(req, res, {
      key,
      look: async () => {
        const mark = (await deps.findLinkMark(key)) ?? "";
        const query = { sourceTransaction, amount: undefined };
        return { mark, state: await readCheckoutLink(deps, linkId, query) };
      },
    });
  };
