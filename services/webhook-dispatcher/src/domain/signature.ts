import { createHmac } from "node:crypto";

const millisPerSecond = 1000;

type SignatureInput = { prefix: string; secret: string; eventId: string; body: string; now: Date };

/**
 * The three headers that authenticate one attempt (rules HOOK-11, HOOK-12): the HMAC-SHA256, under the
 * secret exactly as it was shown, of the timestamp, a period and the body's bytes.
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
