import type { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Merchant, call, sendNotice } from "../rig/client.ts";
import type { RealSystem } from "../rig/real-system.ts";
import type { WebhookReceiver } from "../rig/receiver.ts";
import { acmeProvider } from "../rig/shop-env.ts";
import { multiplyLinks } from "./multiply-links.ts";

const waitMsMax = 60_000;

/** A client for one account on a running system, with the calls that the account can make. */
export type AccountClient = ReturnType<typeof createAccountClient>;

/**
 * A call by an account or its payer. `prepare` creates the data that the given number of calls
 * needs.
 */
export type AccountCall = {
  name: string;
  prepare?: (account: AccountClient, callCount: number) => Promise<void>;
  run: (account: AccountClient) => Promise<unknown>;
};

/**
 * Creates a client that makes calls for one account. The receiver must receive only this account's
 * webhooks.
 */
export const createAccountClient = (
  { receiver, system }: { receiver: WebhookReceiver; system: RealSystem },
  { endpointId, merchant }: { endpointId: string; merchant: Merchant },
) => {
  const headers = { "x-api-key": merchant.apiKey };
  const create = async (): Promise<string> => {
    const url = `${system.baseUrl}/v1/payment-link`;
    const { body } = await call(url, { method: "POST", headers, body: { toAmount: "25" } });
    return String(body["id"]);
  };
  const linkIds: string[] = [];
  const pay = createPay(system, receiver);
  let [requestCount, linkCount] = [0, 0];
  return {
    handle: merchant.handle,
    endpointId,
    create,
    linkIds,
    payNext: () => pay(linkIds.shift() ?? ""),
    /**
     * Inserts `count` links by SQL, each with a payment and a webhook. Can be called only once per
     * database.
     */
    multiplyLinks: async (admin: Client, count: number): Promise<void> => {
      const seedId = await create();
      await pay(seedId);
      await multiplyLinks(admin, seedId, { from: 1, to: count });
      linkCount = count;
    },
    /** Returns the ID of one of those links. Successive IDs are spread over the whole table. */
    pickLinkId: (): string => {
      requestCount += 1;
      return `plink_7${String(1 + ((requestCount * 7_919) % (linkCount - 1))).padStart(25, "0")}`;
    },
    get: async (path: string, authenticatedBy: "key" | "session" | "none"): Promise<void> => {
      const sessionHeaders = { cookie: merchant.cookie };
      const requestHeaders = { key: headers, session: sessionHeaders, none: {} }[authenticatedBy];
      const response = await call(`${system.baseUrl}${path}`, { headers: requestHeaders });
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    },
  };
};

/** Pays a link in full through a provider's notice. Resolves once its webhook has arrived. */
const createPay = (system: RealSystem, receiver: WebhookReceiver) => {
  let paidCount = 0;
  return async (linkId: string): Promise<void> => {
    paidCount += 1;
    const notice = {
      id: `pay_${paidCount}`,
      paymentLinkId: linkId,
      status: "settled",
      amount: "25",
    } as const;
    const status = await sendNotice(system.baseUrl, acmeProvider, notice);
    if (status >= 300) throw new Error(`the notice got the response ${status}`);
    const hasArrived = () =>
      receiver.received.some(
        ({ body: { type, data } }) =>
          type === "payment_link.completed" && data["paymentLinkId"] === linkId,
      );
    await waitUntil("the webhook arrives", hasArrived, waitMsMax);
    receiver.received.length = 0;
  };
};

/** The public API calls, and a payment. */
export const accountCalls: readonly AccountCall[] = [
  { name: "create a link", run: ({ create }) => create() },
  {
    name: "retrieve a link",
    run: (account) => account.get(`/v1/payment-link/${account.pickLinkId()}`, "key"),
  },
  { name: "list links", run: ({ get }) => get("/v1/payment-link", "key") },
  {
    name: "list completed links",
    run: ({ get }) => get("/v1/payment-link?status=completed", "key"),
  },
  {
    name: "checkout page",
    run: (account) => account.get(`/@${account.handle}/pay/${account.pickLinkId()}`, "none"),
  },
  {
    name: "checkout, as data",
    run: (account) => account.get(`/checkout/payment-links/${account.pickLinkId()}`, "none"),
  },
  {
    name: "payments of a link",
    run: (account) =>
      account.get(`/console/api/payment-links/${account.pickLinkId()}/payments`, "session"),
  },
  { name: "overview", run: ({ get }) => get("/console/api/overview", "session") },
  {
    name: "deliveries of an endpoint",
    run: ({ get, endpointId }) =>
      get(`/console/api/webhook-endpoints/${endpointId}/deliveries`, "session"),
  },
  {
    name: "a payment, from its notice to its webhook",
    prepare: async ({ create, linkIds }, callCount) => {
      for (let index = linkIds.length; index < callCount; index += 1) {
        linkIds.push(await create());
      }
    },
    run: ({ payNext }) => payNext(),
  },
];
