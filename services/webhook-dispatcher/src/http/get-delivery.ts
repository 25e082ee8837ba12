import type { Request, Response } from "express";
import { isId, refuse } from "@payment-links/contracts";
import { answerJson, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showDetailedDelivery } from "../domain/delivery.ts";
import { hadEndpoint } from "../store/endpoints.ts";
import { findDelivery } from "../store/logged-deliveries.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

/**
 * GET /console/api/webhook-endpoints/{id}/deliveries/{deliveryId}: one entry of its log, with each
 * attempt.
 */
export const getDelivery =
  ({ pool }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const endpointId = readEndpointId(req);
    const id = readParam(req, "deliveryId");
    const isThere =
      isId("evt", id) && (await hadEndpoint(pool, { userId: account.id, id: endpointId }));
    const delivery = isThere ? await findDelivery(pool, { endpointId, id }) : null;
    if (delivery === null) throw refuse("NOT_FOUND");
    answerJson(res, 200, showDetailedDelivery(delivery));
  };
