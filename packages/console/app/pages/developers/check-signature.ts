/** The result of a signature check. */
export type SignatureCheck = "isGenuine" | "isWrong" | "isStale";

type SignedWebhook = { secret: string; timestamp: string; signature: string; body: string };

const toleranceSeconds = 300;

/** Checks a webhook's signature as a receiver does. */
export const checkSignature = async (
  { secret, timestamp, signature, body }: SignedWebhook,
  now: Date,
): Promise<SignatureCheck> => {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, [
    "sign",
  ]);
  const signedPayload = encoder.encode(`${timestamp.trim()}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signedPayload));
  const expected = [...mac].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (signature.trim().replace(/^v1=/, "").toLowerCase() !== expected) return "isWrong";
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(timestamp));
  return ageSeconds <= toleranceSeconds ? "isGenuine" : "isStale";
};
