import type { Request, Response } from "express";
import { UsedAddressesRequest, createApiError } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";

/**
 * POST /internal/settlement/used-addresses: returns which of the given Bitcoin addresses have
 * already been paid. links-api asks before it suggests the first address of a wallet. 503 if no
 * node answers.
 */
export const getUsedAddresses =
  ({ chains, log }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const request = await readJsonBody(req, UsedAddressesRequest);
    const result = await chains.fetchUsedAddresses(request).catch((error: unknown) => {
      log.info({ err: error, chain: request.chainId }, "used addresses unavailable");
      throw createApiError("SERVICE_UNAVAILABLE");
    });
    sendJson(res, 200, result);
  };
