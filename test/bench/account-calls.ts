import type { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Merchant, call, sendNotice } from "../rig/client.ts";
import type { RealSystem } from "../rig/real-system.ts";
import type { Receiver } from "../rig/receiver.ts";
import { acme } from "../rig/shop-env.ts";
import { grow } from "./grow.ts";

const waitMsMax = 60_000;

/** One account of a whole set, and what can be asked in its name. */
export type Account = ReturnType<typeof openAccount>;

/** A call that an account or its payer makes. `prepare` makes what so many calls need first. */
export type AccountCall = {
  name: string;
  prepare?: (account: Account, times: number) => Promise<void>;
  run: (account: Account) => Promise<unknown>;
};

/** Asks in an account's name. Its webhooks, and nobody else's, come to the receiver. */
export const openAccount = (
  { receiver, system }: { receiver: Receiver; system: RealSystem },
  { endpointId, merchant }: { endpointId: string; merchant: Merchant },
) => {
  const headers = { "x-api-key": merchant.apiKey };
  const create = async (): Promise<string> => {
    const url = `${system.baseUrl}/v1/payment-link`;
    const { body } = await call(url, { method: "POST", headers, body: { toAmount: "25" } });
    return String(body["id"]);
  };
  const linkIds: string[] = [];
  const pay = payIn(system, receiver);
  let [asked, grown] = [0, 0];
  return {
    handle: merchant.handle,
    endpointId,
    create,
    linkIds,
    payNext: () => pay(linkIds.shift() ?? ""),
    /** Gives it as many links, each with its payment and its webhook, by SQL. Once for each database. */
    grow: async (admin: Client, count: number): Promise<void> => {
      const seedId = await create();
      await pay(seedId);
      await grow(admin, seedId, { from: 1, to: count });
      grown = count;
    },
    /** One of the links that it was given, from all over the tables. */
    anyLink: (): string => {
      asked += 1;
      return `plink_7${String(1 + ((asked * 7_919) % (grown - 1))).padStart(25, "0")}`;
    },
    get: async (path: string, by: "key" | "session" | "nobody"): Promise<void> => {
      const session = { cookie: merchant.cookie };
      const as = { key: headers, session, nobody: {} }[by];
      const answer = await call(`${system.baseUrl}${path}`, { headers: as });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    },
  };
};

/** Pays a link to its end, by a provider's notice; resolves once its webhook has come. */
const payIn = (system: RealSystem, receiver: Receiver) => {
  let paid = 0;
  return async (linkId: string): Promise<void> => {
    paid += 1;
    const notice = {
      id: `pay_${paid}`,
      paymentLinkId: linkId,
      status: "settled",
      amount: "25",
    } as const;
    const status = await sendNotice(system.baseUrl, acme, notice);
    if (status >= 300) throw new Error(`the notice was answered ${status}`);
    const isTold = () =>
      receiver.received.some(
        ({ body: { type, data } }) =>
          type === "payment_link.completed" && data["paymentLinkId"] === linkId,
      );
    await waitUntil("the webhook", isTold, waitMsMax);
    receiver.received.length = 0;
  };
};

/** The public calls, and a payment. */
export const accountCalls: readonly AccountCall[] = [
  { name: "create a link", run: ({ create }) => create() },
  { name: "retrieve a link", run: (one) => one.get(`/v1/payment-link/${one.anyLink()}`, "key") },
  { name: "list links", run: ({ get }) => get("/v1/payment-link", "key") },
  {
    name: "list completed links",
    run: ({ get }) => get("/v1/payment-link?status=completed", "key"),
  },
  {
    name: "checkout page",
    run: (one) => one.get(`/@${one.handle}/pay/${one.anyLink()}`, "nobody"),
  },
  {
    name: "checkout, as data",
    run: (one) => one.get(`/checkout/payment-links/${one.anyLink()}`, "nobody"),
  },
  {
    name: "payments of a link",
    run: (one) => one.get(`/console/api/payment-links/${one.anyLink()}/payments`, "session"),
  },
  { name: "overview", run: ({ get }) => get("/console/api/overview", "session") },
  {
    name: "deliveries of an endpoint",
    run: ({ get, endpointId }) =>
      get(`/console/api/webhook-endpoints/${endpointId}/deliveries`, "session"),
  },
  {
    name: "a payment, from its notice to its webhook",
    prepare: async ({ create, linkIds }, times) => {
      for (let index = linkIds.length; index < times; index += 1) {
        linkIds.push(await create());
      }
    },
    run: ({ payNext }) => payNext(),
  },
];
