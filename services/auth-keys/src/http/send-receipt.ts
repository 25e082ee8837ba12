import type { Request, Response } from "express";
import { ApiError, ReceiptEmail, createApiError } from "@payment-links/contracts";
import { readJsonBody, sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";

/**
 * POST /internal/receipts: sends the receipt of a payment to an address that its payer entered.
 * links-api calls it. The address is not stored. 503 if the receipt could not be sent.
 */
export const sendReceipt =
  ({ sendReceipt: sendReceiptEmail, log }: Pick<Dependencies, "sendReceipt" | "log">) =>
  async (req: Request, res: Response): Promise<void> => {
    const receipt = await readJsonBody(req, ReceiptEmail);
    const result = await sendReceiptEmail(receipt).catch((error: unknown) => {
      if (error instanceof ApiError) throw error;
      log.warn({ err: error }, "receipt could not be sent");
      throw createApiError("SERVICE_UNAVAILABLE");
    });
    sendJson(res, 200, result);
  };
