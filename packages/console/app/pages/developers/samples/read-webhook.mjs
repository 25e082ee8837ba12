import { createHmac, timingSafeEqual } from "node:crypto";

// Returns the webhook, or undefined if the request is not genuine. In that case, respond with 401.
// The same webhook can arrive twice. Deduplicate by its `id` in the body: headers are not signed.
// raw: the bytes of the body before any parsing. headers: the headers object of Node.js or Express.
export const readWebhook = (raw, headers, secret) => {
  if (!secret?.startsWith("whsec_")) throw new Error("the endpoint's signing secret is missing");
  const timestamp = headers["service-timestamp"] ?? "";
  const signature = headers["service-signature"] ?? "";
  if (!/^[0-9]{1,12}$/.test(timestamp) || !/^v1=[0-9a-f]{64}$/.test(signature)) return undefined;
  const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(raw).digest("hex");
  const isGenuine = timingSafeEqual(Buffer.from(signature), Buffer.from(`v1=${mac}`));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return isGenuine && isFresh ? JSON.parse(raw) : undefined;
};
