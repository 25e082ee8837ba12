import { createHmac, randomUUID } from "node:crypto";
import { forwardWebhook } from "./forward-webhook.ts";

/** A check, and its result for people. A warning does not fail the command. */
export type Check = { name: string; result: "ok" | "warning" | "failed"; message: string };

export type ReceiverOptions = {
  receiverUrl: URL;
  secret: string;
  headerPrefix: string;
  now: Date;
  signal: AbortSignal;
};

/** A receiver must reject a timestamp that is more than 300 s off. */
const oldSeconds = 600;

/**
 * Checks whether a receiver verifies signatures. Sends an event of a type that does not exist, so
 * that a correct receiver acknowledges it and does nothing.
 */
export const checkReceiver = async (options: ReceiverOptions): Promise<Check[]> => {
  const body = createTestBody(options.now);
  const seconds = Math.floor(options.now.getTime() / 1_000);
  const sign = (timestamp: number) => createHeaders(options, body, timestamp);
  const requests = [
    { name: "Receiver, valid signature", headers: sign(seconds), body, isAccepted: true },
    {
      name: "Receiver, changed body",
      headers: sign(seconds),
      body: body.replace(`"data":{}`, `"data":{"changed":true}`),
      isAccepted: false,
    },
    {
      name: "Receiver, old timestamp",
      headers: sign(seconds - oldSeconds),
      body,
      isAccepted: false,
    },
  ];
  const checks: Check[] = [];
  for (const { name, isAccepted, ...webhook } of requests) {
    const { status, error } = await forwardWebhook(options.receiverUrl, webhook, options.signal);
    options.signal.throwIfAborted();
    const isExpected = status !== null && Math.floor(status / 100) === (isAccepted ? 2 : 4);
    const expectation = isAccepted ? "2xx" : "4xx";
    checks.push({
      name,
      result: isExpected ? "ok" : "failed",
      message: isExpected
        ? `responded with ${status}`
        : `responded with ${status ?? error ?? "nothing"} instead of ${expectation}`,
    });
  }
  return checks;
};

const createTestBody = (now: Date): string =>
  JSON.stringify({
    createdAt: now.toISOString(),
    data: {},
    id: `evt_test_${randomUUID()}`,
    type: "payment_links.test",
  });

const createHeaders = (
  { headerPrefix, secret }: ReceiverOptions,
  body: string,
  timestamp: number,
): Record<string, string> => {
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return {
    "Content-Type": "application/json",
    "User-Agent": "PaymentLinks-Webhooks/1.0",
    [`${headerPrefix}-Signature`]: `v1=${digest}`,
    [`${headerPrefix}-Timestamp`]: String(timestamp),
    [`${headerPrefix}-Event-Id`]: (JSON.parse(body) as { id: string }).id,
  };
};
