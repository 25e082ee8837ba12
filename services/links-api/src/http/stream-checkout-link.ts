import type { Request, Response } from "express";
import { CheckoutEventsQuery } from "@payment-links/contracts";
import { parsePathParameter, parseQuery } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { formatFollowedKey } from "../domain/followed-link.ts";
import { getSourceIdPrefix, readCheckoutLink } from "./read-checkout-link.ts";
import { readLink } from "../store/read-link.ts";

/**
 * GET /checkout/payment-links/:id/events: sends the response of `GET /checkout/payment-links/:id`
 * as server-sent events, immediately and after each change.
 */
export const streamCheckoutLink =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { sourceTransaction } = parseQuery(req, CheckoutEventsQuery);
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const payment =
      sourceTransaction === undefined
        ? null
        : getSourceIdPrefix(dependencies, await readLink(dependencies, linkId), sourceTransaction);
    const key = formatFollowedKey({ linkId, payment });
    await dependencies.eventStreams.startStream(req, res, {
      key,
      readSnapshot: async () => {
        const fingerprint = (await dependencies.findLinkFingerprint(key)) ?? "";
        const query = { sourceTransaction, amount: undefined };
        return { fingerprint, state: await readCheckoutLink(dependencies, linkId, query) };
      },
    });
  };
