import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { CatalogueData } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { call, createMerchant } from "./rig/client.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { buildShopEnv } from "./rig/shop-env.ts";
import { createToyAddress } from "./toy-family/family/address.ts";
import { startToyNode } from "./toy-family/start-toy-node.ts";

const chainName = "toy:1";
const [tokenAddress, shopAddress, payerAddress] = ["11", "22", "33"].map((byte) =>
  createToyAddress(byte.repeat(8)),
) as [string, string, string];

const catalogue: CatalogueData = {
  chains: [{ id: "toy", name: "Toy chain", symbol: "TOY", chainType: "TVM", caip2: chainName }],
  tokens: [
    {
      id: "usd-toy",
      chainId: "toy",
      address: tokenAddress,
      decimals: 6,
      symbol: "USDT",
      name: "Toy dollar",
      isNative: false,
      isStablecoin: true,
      currencyCode: "USD",
      commodityCode: null,
      source: "this test",
      verifiedOn: "2026-11-30",
    },
  ],
};

let directory: string;
let node: Awaited<ReturnType<typeof startToyNode>>;
let receiver: WebhookReceiver;
let system: RealSystem;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toy-family-"));
  const catalogueFile = join(directory, "catalogue.json");
  await writeFile(catalogueFile, JSON.stringify(catalogue));
  node = await startToyNode(chainName);
  receiver = await startReceiver();
  system = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...buildShopEnv(receiver),
      CATALOGUE_FILE: catalogueFile,
      NODE_OPTIONS: `--import=${new URL("toy-family/register.mjs", import.meta.url).href}`,
    },
    envByService: {
      "links-api": { SETTLEMENT_CHAINS: "toy" },
      "settlement-listener": { RPC_URLS: `toy=${node.url}` },
    },
  });
});

afterAll(async () => {
  await system?.close();
  await receiver?.close();
  await node?.close();
  await rm(directory, { recursive: true, force: true });
});

// Guards against facts about a chain family outside of its folder. The toy family is a folder in
// place of Tron's. No other file of the product knows it.
test("a link on the chain of a new family is paid, completed and reported by a signed webhook", async () => {
  const merchant = await createMerchant(system, "toymaker");
  const { secret } = await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const addWallet = (walletAddress: string) =>
    call(`${system.baseUrl}/console/api/wallets`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
      body: { walletAddress, tokenId: "usd-toy", isDefault: true },
    });
  const misspelledAddress = `${shopAddress.slice(0, -1)}${shopAddress.endsWith("0") ? "1" : "0"}`;
  expect((await addWallet(misspelledAddress)).status).toBe(422);
  expect((await addWallet(shopAddress)).status).toBe(201);

  const link = await waitUntil("a link can be created", async () => {
    const { body, status } = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body: { toAmount: "5" },
    });
    return status === 200 ? body : undefined;
  });
  const id = String(link["id"]);
  const { body: checkoutLink } = await call(`${system.baseUrl}/checkout/payment-links/${id}`);
  expect(checkoutLink["destinationAddress"]).toBe(shopAddress);
  const { uri } = checkoutLink["instructions"] as { uri: string };
  const page = await call(String(link["url"]));
  expect(page.status).toBe(200);
  expect(String(page.body["text"])).toContain(shopAddress);

  const transferId = node.pay(uri, payerAddress);
  const completedLink = await waitUntil("the link is completed", async () => {
    // A payment settles one block later.
    node.mine();
    const { body } = await call(`${system.baseUrl}/v1/payment-link/${id}`);
    return body["status"] === "completed" ? body : undefined;
  });
  expect(completedLink["receivedAmount"]).toBe("5");
  const webhook = await waitUntil("the webhook arrives", () =>
    receiver.received.find(
      ({ body }) => body.type === "payment_link.completed" && body.data["paymentLinkId"] === id,
    ),
  );
  expect(isSignedWith(secret, webhook)).toBe(true);
  expect(webhook.body.data).toMatchObject({ chainId: "toy", tokenAddress, receivedAmount: "5" });
  const payment = receiver.received.find(
    ({ body }) => body.type === "payment_link.transaction.succeeded",
  );
  expect(payment?.body.data.transaction).toMatchObject({ sourceTransaction: transferId });
});
