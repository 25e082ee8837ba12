import * as z from "zod";
import { ReceiptEmail, ReceiptResult, type SendReceipt } from "@payment-links/contracts";
import { getActiveTraceparent } from "@payment-links/runtime";

type ReceiptClientOptions = {
  /** The base URL of auth-keys' internal listener, without a trailing slash. */
  url: string;
  /** The bearer token that `/internal/…` requires. */
  token?: string | undefined;
  timeoutMs?: number;
};

/** Longer than auth-keys waits for the SMTP server. */
const timeoutMsDefault = 10_000;

/** Creates a client that asks auth-keys to send a receipt. No error contains the request. */
export const createReceiptClient =
  ({ url, token, timeoutMs = timeoutMsDefault }: ReceiptClientOptions): SendReceipt =>
  async (receipt) => {
    const traceparent = getActiveTraceparent();
    const response = await fetch(`${url}/internal/receipts`, {
      method: "POST",
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: JSON.stringify(z.encode(ReceiptEmail, receipt)),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`auth-keys responded with status ${response.status}`);
    }
    return ReceiptResult.parse(await response.json());
  };
