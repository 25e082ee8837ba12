import { devnet } from "@payment-links/contracts";
import { findOrBuildBtcd } from "@payment-links/local-chains/bitcoin/find-btcd";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { startAllInOneSystem } from "../rig/all-in-one-system.ts";
import { type Merchant, call, createMerchant, sendNotice, signInAgain } from "../rig/client.ts";
import { type WebhookReceiver, startReceiver } from "../rig/receiver.ts";
import { acmeProvider, buildShopEnv } from "../rig/shop-env.ts";
import { callConsole } from "./call-console.ts";

/** The first day in the pictures. The pictures do not show the date on which they are taken. */
const firstDayAt = new Date("2026-03-02T09:00:00Z");
const dayMs = 86_400_000;

/** The amounts that are paid on each day. Each amount has its own link. */
const amountsByDay: readonly (readonly string[])[] = [
  ["18.5", "42"],
  ["64.9"],
  ["12", "37.4", "25"],
  [],
  ["88"],
  ["19.95", "54"],
  ["31"],
  ["73.5", "16"],
  ["47"],
  ["22", "95.8"],
  ["12.5"],
  ["59", "34", "28.6"],
  ["81.2"],
  ["44", "67.9"],
  ["120", "18.5"],
  ["36"],
  ["52.4", "74"],
  ["99", "25", "41.3"],
  ["63", "88.5"],
  ["110.75", "29"],
];
const unpaidAmounts = ["48", "19.9", "156"];

const dayClockUrl = new URL("day-clock.mjs", import.meta.url).href;

type System = Awaited<ReturnType<typeof startAllInOneSystem>>;

/**
 * Starts `npm start` with its development chains, and simulates three weeks of payments to a shop:
 * `day-clock.mjs` advances the product's clock day by day.
 */
export const createShop = async () => {
  const btcd = await findOrBuildBtcd();
  if (typeof btcd !== "string") throw new Error(btcd.reason);
  const [devnetPort = 0] = await findFreePorts(1);
  const receiver = await startReceiver();
  const system = await startAllInOneSystem(
    {
      ...buildShopEnv(receiver),
      WEBHOOK_HOST_OVERRIDES: `tea-house.example=http://127.0.0.1:${receiver.port}`,
      DEVNET_CHAINS: "local-evm,local-solana,local-tron,local-bitcoin",
      BTCD_BIN: btcd,
      DEVNET_PORT: String(devnetPort),
      RATE_LIMIT_PER_IP: "10000:10000",
      NODE_OPTIONS: `--import=${dayClockUrl}`,
      PICTURES_BEGIN_AT: firstDayAt.toISOString(),
    },
    { withDevnet: true },
  );
  const close = async () => {
    await system.close();
    await receiver.close();
  };
  try {
    const shop = await fillShop(system, receiver);
    const { baseUrl, internalUrl } = system;
    const nodeUrl = `http://127.0.0.1:${devnetPort}`;
    return { ...shop, baseUrl, internalUrl, nodeUrl, receiver, close };
  } catch (error) {
    await close();
    throw error;
  }
};
export type Shop = Awaited<ReturnType<typeof createShop>>;

const fillShop = async (system: System, receiver: WebhookReceiver) => {
  const merchant = await createMerchant(system, "tea_house");
  const orderBook = createOrderBook(system, merchant);
  await updateProfile(system, merchant);
  const endpointId = await addEndpoint(system, merchant);
  for (const [day, amounts] of amountsByDay.entries()) {
    if (day > 0) await advanceDay(system, day);
    for (const [index, amount] of amounts.entries()) {
      // On each of the last two days, one webhook is rejected at first. The last one stays pending
      // until the end.
      let remainingRejections = index === 0 && day >= amountsByDay.length - 2 ? 1 : 0;
      receiver.setResponder(() => (remainingRejections-- > 0 ? 503 : 204));
      await orderBook.createPaidOrder(amount, getDay(day));
      await waitUntil(
        "the webhooks arrive",
        () => countReceivedEvents(receiver) === orderBook.paidCount() * 2,
      );
    }
  }
  for (const amount of unpaidAmounts) await orderBook.createOrder(amount);
  const cookie = await signInAgain(system, merchant);
  const linkUrl = await createDevnetOrder(system, cookie);
  return { cookie, endpointId, linkUrl, now: getDay(amountsByDay.length - 1) };
};

/** Returns the number of distinct events that a receiver has received. */
const countReceivedEvents = ({ received }: WebhookReceiver): number =>
  new Set(received.map(({ body }) => body.id)).size;

const getDay = (day: number): Date => new Date(firstDayAt.getTime() + day * dayMs);

const advanceDay = async (system: System, day: number): Promise<void> => {
  process.kill(system.pid, "SIGUSR2");
  await waitUntil("the next day begins", () => system.output().includes(`it is day ${day}\n`));
};

const createOrderBook = ({ baseUrl }: System, { apiKey }: Merchant) => {
  const headers = { "x-api-key": apiKey };
  let orderCount = 1000;
  let paidCount = 0;
  const createOrder = async (toAmount: string): Promise<string> => {
    orderCount += 1;
    const body = { toAmount, description: `Order ${orderCount}` };
    const url = `${baseUrl}/v1/payment-link`;
    const created = await call(url, { method: "POST", headers, body });
    if (created.status !== 200)
      throw new Error(`the link was not created: ${JSON.stringify(created.body)}`);
    return String(created.body["id"]);
  };
  const isCompleted = async (id: string) => {
    const response = await call(`${baseUrl}/v1/payment-link/${id}`, { headers });
    return response.body["status"] === "completed";
  };
  return {
    createOrder,
    /** Creates a link and reports its payment as a provider would. */
    createPaidOrder: async (amount: string, soldAt: Date): Promise<void> => {
      const id = await createOrder(amount);
      paidCount += 1;
      const body = { id: `payment-${orderCount}`, paymentLinkId: id, amount };
      const occurredAt = soldAt.toISOString();
      const status = await sendNotice(baseUrl, acmeProvider, {
        ...body,
        status: "settled",
        occurredAt,
      });
      if (status >= 300) throw new Error(`the notice got the response ${status}`);
      await waitUntil("the link is paid", () => isCompleted(id));
    },
    paidCount: () => paidCount,
  };
};

const updateProfile = ({ baseUrl }: System, { cookie }: Merchant) =>
  callConsole({ baseUrl, cookie }, "account", {
    method: "PATCH",
    body: {
      username: "Tea House",
      bio: "Loose leaf, packed by hand.",
      backgroundColour: "#2e6b4f",
    },
  });

const addEndpoint = async ({ baseUrl }: System, { cookie }: Merchant): Promise<string> => {
  const body = { name: "Till", url: "https://tea-house.example/till" };
  const { id } = await callConsole({ baseUrl, cookie }, "webhook-endpoints", { body });
  return String(id);
};

/**
 * Creates the link for the checkout picture. It must be payable, so it uses the development chain's
 * token.
 */
const createDevnetOrder = async ({ baseUrl }: System, cookie: string): Promise<string> => {
  const walletAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
  const wallet = { walletAddress, tokenId: devnet.tokenId, isDefault: true };
  await callConsole({ baseUrl, cookie }, "wallets", { body: wallet });
  // With an API key, the link would still use the previous default token, because the account is
  // cached for a short time.
  const body = { toAmount: "25", description: "Two tins of sencha, order 1042" };
  const { url } = await callConsole({ baseUrl, cookie }, "payment-links?mode=test", { body });
  return String(url);
};
