import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { createInstants } from "./instants.ts";

const Webhook = z.object({
  data: z.object({
    paymentLinkId: z.string(),
    transaction: z.object({ amount: z.string() }).optional(),
  }),
});
type WebhookData = z.output<typeof Webhook>["data"];

/**
 * Starts a receiver that records when the first byte of each webhook arrives, by the name that
 * `getName` returns for it. Webhooks without a name are ignored.
 */
export const startArrivalReceiver = async (getName: (data: WebhookData) => string | undefined) => {
  const arrivals = createInstants();
  let arrivedCount = 0;
  const server = createServer((req, res) => {
    const arrivedAt = performance.now();
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      res.end();
      const { data } = Webhook.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      const name = getName(data);
      if (name === undefined) return;
      arrivedCount += 1;
      arrivals.record(name, arrivedAt);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    countArrived: () => arrivedCount,
    waitForArrival: arrivals.waitFor,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
