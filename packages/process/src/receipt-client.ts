import * as z from "zod";
import { ReceiptEmail, ReceiptResult, type SendReceipt } from "@payment-links/contracts";
import { type InternalClientOptions, postInternal } from "./post-internal.ts";

/** Longer than auth-keys waits for the SMTP server. */
const timeoutMsDefault = 10_000;

/** Creates a client that asks auth-keys to send a receipt. No error contains the request. */
export const createReceiptClient =
  ({ url, token, timeoutMs = timeoutMsDefault }: InternalClientOptions): SendReceipt =>
  async (receipt) => {
    const response = await postInternal({
      service: "auth-keys",
      url: `${url}/internal/receipts`,
      token,
      timeoutMs,
      body: z.encode(ReceiptEmail, receipt),
    });
    return ReceiptResult.parse(await response.json());
  };
