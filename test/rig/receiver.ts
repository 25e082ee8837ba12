import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One webhook as received, before verification. */
export type ReceivedWebhook = {
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  body: {
    id: string;
    type: string;
    createdAt: string;
    data: Record<string, unknown> & { transaction?: Record<string, unknown> };
  };
};

export type WebhookReceiver = {
  port: number;
  received: ReceivedWebhook[];
  /** Sets the function that chooses the response status. The default status is 204. */
  setResponder(chooseStatus: (received: ReceivedWebhook) => number): void;
  close(): Promise<void>;
};

/** Starts a third-party webhook receiver on loopback. */
export const startReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedWebhook[] = [];
  let chooseStatus: (received: ReceivedWebhook) => number = () => 204;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const rawBody = Buffer.concat(chunks);
      const body = JSON.parse(rawBody.toString("utf8")) as ReceivedWebhook["body"];
      const webhook = { path: req.url ?? "", headers: req.headers, rawBody, body };
      received.push(webhook);
      res.writeHead(chooseStatus(webhook)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    setResponder: (newChooseStatus) => {
      chooseStatus = newChooseStatus;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Computes a delivery's signature as an integrator would (rule HOOK-12). */
export const computeSignature = (secret: string, timestamp: string, body: string): string =>
  `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;

/** Returns the headers with which the service sends this webhook now. */
export const signWebhook = (secret: string, body: string): Record<string, string> => {
  const seconds = String(Math.floor(Date.now() / 1_000));
  return {
    "Content-Type": "application/json",
    "Service-Timestamp": seconds,
    "Service-Signature": computeSignature(secret, seconds, body),
  };
};

/** Verifies a delivery as an integrator would, from the raw bytes. */
export const isSignedWith = (secret: string, { headers, rawBody }: ReceivedWebhook): boolean => {
  const timestamp = String(headers["service-timestamp"]);
  const expectedSignature = computeSignature(secret, timestamp, rawBody.toString("utf8"));
  const receivedSignature = String(headers["service-signature"]);
  return (
    receivedSignature.length === expectedSignature.length &&
    timingSafeEqual(Buffer.from(receivedSignature), Buffer.from(expectedSignature))
  );
};
