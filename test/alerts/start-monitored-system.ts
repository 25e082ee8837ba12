import { request } from "undici";
import { type Merchant, call, createMerchant, sendNotice } from "../rig/client.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { startReceiver } from "../rig/receiver.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv } from "../rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";

export const monitoredServices = [
  "auth-keys",
  "links-api",
  "settlement-listener",
  "webhook-dispatcher",
] as const;

/**
 * Starts the four services with Kafka, Redis and Postgres. Each service can be scraped as
 * Prometheus does.
 */
export const startMonitoredSystem = async () => {
  const receiver = await startReceiver();
  const system: RealSystem = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...buildShopEnv(receiver),
      // All test accounts share one source address.
      RATE_LIMIT_PER_IP: "100000:100000",
    },
  });
  return {
    ...system,
    /** Scrapes the internal port of a service and returns the response. */
    scrape: async (service: string): Promise<string> => {
      const port = system.replicas.find((replica) => replica.service === service)?.internalPort;
      const response = await request(`http://127.0.0.1:${port}/metrics`);
      return response.body.text();
    },
    /** Creates an account, and a link with the account's API key. */
    createOnce: async (handle: string): Promise<void> => {
      const { apiKey } = await createMerchant(system, handle);
      const { status } = await call(`${system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": apiKey },
        body: { toAmount: "25" },
      });
      if (status !== 200) throw new Error(`creating a link got the response ${status}`);
    },
    /**
     * Creates an account and a link, and pays the link through a notice. The payment causes two
     * webhooks.
     */
    payOnce: async (handle: string): Promise<Merchant> => {
      const merchant = await createMerchant(system, handle);
      await registerEndpoint(system, merchant, `https://receiver.test/${handle}`);
      const link = await call(`${system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body: { toAmount: "25" },
      });
      const id = String(link.body["id"]);
      const notice = { id: `payment-${handle}`, paymentLinkId: id, amount: "25" };
      const status = await sendNotice(system.baseUrl, acmeProvider, {
        ...notice,
        status: "settled",
      });
      if (status !== 202) throw new Error(`the notice got the response ${status}`);
      await call(`${system.baseUrl}/v1/payment-link/${id}`);
      return merchant;
    },
    /** Waits until `count` webhooks have arrived. Each payment causes two webhooks. */
    waitForWebhooks: (count: number) =>
      waitUntil(`${count} webhooks arrive`, () => receiver.received.length >= count),
    close: async () => {
      await system.close();
      await receiver.close();
    },
  };
};

export type MonitoredSystem = Awaited<ReturnType<typeof startMonitoredSystem>>;
