import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { createMerchant, sendNotice } from "../rig/client.ts";
import { startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { startArrivalReceiver } from "./arrival-receiver.ts";
import type { OnEnd } from "./harness.ts";
import { createLink } from "./load.ts";

const linkCount = 100;
/** No bench pays enough to complete a link of this amount. */
export const hugeAmount = "1000000000000";

export type Shop = Awaited<ReturnType<typeof startShop>>;

/**
 * Starts the given number of replicas of each service, and creates a merchant with one endpoint.
 * The rate limits are too high for a bench to reach.
 */
export const startShop = async (
  onEnd: OnEnd,
  {
    replicasPerService = 1,
    env = {},
  }: { replicasPerService?: number; env?: Record<string, string> },
) => {
  const receiver = await startArrivalReceiver(({ transaction }) => transaction?.amount);
  onEnd(receiver.close);
  const system = await startRealSystem({
    replicasPerService,
    env: { ...buildShopEnv(receiver), ...unlimitedEnv, ...env },
  });
  onEnd(() => system.close());
  const admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  const merchant = await createMerchant(system, "bench");
  const endpoint = await registerEndpoint(system, merchant, "https://receiver.test/hook");
  return { admin, endpointId: endpoint.id, merchant, receiver, system };
};

/**
 * Creates links that payments do not complete. Waits until settlement-listener has received them.
 * Otherwise, a payment would be deferred until its link arrives, and would continue in another
 * trace.
 */
export const createOpenLinks = async ({ admin, merchant, system }: Shop): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < linkCount) {
    const { id } = await createLink(system.baseUrl, merchant.apiKey, { toAmount: hugeAmount });
    ids.push(id);
  }
  const text = "SELECT FROM settlement_listener.links WHERE id = ANY($1)";
  const areReceived = async () => (await admin.query(text, [ids])).rowCount === ids.length;
  await waitUntil("the services have received the links", areReceived);
  return ids;
};

/**
 * The number of the last payment, which is also its amount. It starts high enough for one payment to
 * complete a link of the growth bench.
 */
let paymentCount = 1_000;

type PayOptions = {
  headers?: Record<string, string>;
  /** Called after a refused notice, before it is sent again. The default throws. */
  onRefused?: (status: number, attempt: number) => Promise<void>;
};

const throwRefused = async (status: number): Promise<void> => {
  throw new Error(`the notice got the response ${status}`);
};

/**
 * Sends the notice of one payment. Resolves with the times of its response and of the first byte of
 * the webhook.
 */
export const pay = async (
  { receiver, system }: Pick<Shop, "receiver" | "system">,
  paymentLinkId: string,
  { headers = {}, onRefused = throwRefused }: PayOptions = {},
): Promise<{ committedAt: number; arrivedAt: number }> => {
  paymentCount += 1;
  // The amount identifies the payment in the webhook. It must not end in zero, because webhooks
  // omit trailing zeros.
  const amount = `${paymentCount}.1`;
  const notice = { id: `pay_${paymentCount}`, paymentLinkId, status: "settled", amount } as const;
  const send = () => sendNotice(system.baseUrl, acmeProvider, notice, headers);
  let status = await send();
  for (let attempt = 1; status >= 300; attempt += 1) {
    await onRefused(status, attempt);
    status = await send();
  }
  const committedAt = performance.now();
  return { committedAt, arrivedAt: await receiver.waitForArrival(amount) };
};

/** Pays the links in turn. Returns the milliseconds from the response to the webhook. */
export const createPayNext = (shop: Shop, linkIds: readonly string[]) => async (index: number) => {
  const { arrivedAt, committedAt } = await pay(shop, linkIds[index % linkIds.length] ?? "");
  return arrivedAt - committedAt;
};
