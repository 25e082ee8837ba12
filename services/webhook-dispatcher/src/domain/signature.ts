import { createHmac } from "node:crypto";

const millisPerSecond = 1000;

type SignatureInput = { prefix: string; secret: string; eventId: string; body: string; now: Date };

/**
 * Returns the three headers that authenticate one attempt (rules HOOK-11, HOOK-12). The signature
 * is the HMAC-SHA256 of the timestamp, a period and the body's bytes. Its key is the secret exactly
 * as it was shown to the owner.
 */
export const createSignatureHeaders = (input: SignatureInput): Record<string, string> => {
  const { prefix, secret, eventId, body, now } = input;
  const timestamp = String(Math.floor(now.getTime() / millisPerSecond));
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return {
    [`${prefix}-Signature`]: `v1=${digest}`,
    [`${prefix}-Timestamp`]: timestamp,
    [`${prefix}-Event-Id`]: eventId,
  };
};

/** Returns all headers of one attempt except `traceparent`, which is not part of the log. */
export const createWebhookHeaders = (input: SignatureInput): Record<string, string> => ({
  "Content-Type": "application/json",
  "User-Agent": "PaymentLinks-Webhooks/1.0",
  "Accept-Encoding": "identity",
  ...createSignatureHeaders(input),
});
