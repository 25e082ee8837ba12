import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Mode } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { projectRoot } from "./rig/child.ts";
import { call, createApiKey, createMerchant, sendNotice } from "./rig/client.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv, unlimitedEnv } from "./rig/shop-env.ts";
import type { System } from "./rig/system.ts";
import { createRandom } from "./simulation/random.ts";

/** A shop in one mode: a key, an endpoint, and the links that it has created. */
type Shop = { mode: Mode; apiKey: string; secret: string; linkIds: string[] };

let receiver: WebhookReceiver;
let system: System;
let cookie = "";
let shops: Record<Mode, Shop>;

const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startAllInOneSystem({ ...buildShopEnv(receiver), ...unlimitedEnv });
  const merchant = await createMerchant(system, "alice");
  ({ cookie } = merchant);
  const wallet = { walletAddress, tokenId: "usdc-base-sepolia" };
  await callConsole("POST", "wallets", wallet);
  const createShop = async (mode: Mode): Promise<Shop> => {
    const { secret } = await registerEndpoint(
      system,
      merchant,
      `https://receiver.test/${mode}`,
      mode,
    );
    return { mode, apiKey: await createApiKey(system, merchant, mode), secret, linkIds: [] };
  };
  shops = { live: await createShop("live"), test: await createShop("test") };
});

afterAll(async () => {
  await system?.close();
  await receiver?.close();
});

const callConsole = async (method: "GET" | "POST", path: string, body?: unknown) =>
  call(`${system.baseUrl}/console/api/${path}`, { method, headers: { cookie }, body });

const callApi = ({ apiKey }: Shop, method: "GET" | "POST", path: string, body?: unknown) =>
  call(`${system.baseUrl}/v1/${path}`, { method, headers: { "x-api-key": apiKey }, body });

const createLink = async (shop: Shop): Promise<string> => {
  const { body, status } = await callApi(shop, "POST", "payment-link", { toAmount: "25" });
  expect(status).toBe(200);
  const id = String(body["id"]);
  shop.linkIds.push(id);
  return id;
};

type Payment = { id: string; status: string; reason: string | null };
type Delivery = { eventType: string; status: string; paymentId: string | null };

/** Lists all deliveries of a link in a mode, the oldest first. */
const listDeliveries = async (linkId: string, mode: Mode): Promise<Delivery[]> => {
  const { body } = await callConsole("GET", `webhook-deliveries?linkId=${linkId}&mode=${mode}`);
  return (body["data"] as Delivery[]).toReversed();
};

type Row = { name: string; link: string; payment: string[]; calls: string[]; types: string[] };

const listCodes = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** Reads the rows of the table *Every state* in the docs. */
const readTable = async (): Promise<Row[]> => {
  const page = await readFile(join(projectRoot, "packages/docs/content/testing.md"), "utf8");
  const [, section = ""] = page.split("## Every state\n");
  const lines = section.split("\n\n").find((part) => part.startsWith("| To test | Link |"));
  return (lines ?? "")
    .split("\n")
    .slice(2)
    .map((line) => {
      const [, name = "", link = "", payment = "", calls = "", types = ""] = line.split("|");
      return {
        name: name.trim(),
        link: listCodes(link)[0] ?? "",
        payment: listCodes(payment),
        calls: listCodes(calls),
        types: listCodes(types),
      };
    });
};

describe("test mode", () => {
  test("reaches every state, reason and webhook by the calls in the docs (rule MODE-7)", async () => {
    const rows = await readTable();
    expect(rows.length).toBeGreaterThan(15);
    const shop = shops.test;
    for (const { calls, link: status, name, payment: expectedPayment, types } of rows) {
      const id = await createLink(shop);
      let lastPayment: Payment | undefined;
      for (const callText of calls) {
        const [action = "", input] = callText.split(/ (.*)/);
        const body = input?.replace("…", lastPayment?.id ?? "");
        const response = await callApi(
          shop,
          "POST",
          `test/payment-link/${id}/${action}`,
          body === undefined ? undefined : JSON.parse(body),
        );
        expect([name, callText, response.status]).toEqual([name, callText, 200]);
        if (action === "pay") lastPayment = response.body as Payment;
      }
      const payment =
        lastPayment === undefined ? [] : [lastPayment.status, lastPayment.reason ?? []].flat();
      const { body: link } = await call(`${system.baseUrl}/v1/payment-link/${id}`);
      expect([name, link["status"], payment]).toEqual([name, status, expectedPayment]);
      // This webhook comes after all others of the link.
      const { body: last } = await callApi(shop, "POST", `test/payment-link/${id}/pay`, {
        outcome: "wrong_token",
      });
      const deliveries = await waitUntil("all webhooks are delivered", async () => {
        const found = await listDeliveries(id, "test");
        const isComplete = found.some(({ paymentId }) => paymentId === last["id"]);
        return isComplete && found.every(({ status }) => status === "Delivered") && found;
      });
      const precedingTypes = deliveries
        .filter(({ paymentId }) => paymentId !== last["id"])
        .map(({ eventType }) => eventType);
      expect([name, precedingTypes.toSorted()]).toEqual([name, types.toSorted()]);
    }
    const statuses = new Set(rows.map(({ link }) => link));
    expect([...statuses].toSorted()).toEqual(["active", "completed", "inactive"]);
    const reasons = new Set(rows.flatMap(({ payment }) => payment.slice(1)));
    expect([...reasons].toSorted()).toEqual([
      "completed",
      "expired",
      "inactive",
      "wrong_amount",
      "wrong_destination",
      "wrong_token",
    ]);
  });

  test("and live mode do not see each other, in 200 random calls (rules MODE-1 and MODE-5)", async () => {
    const random = createRandom(20261130);
    const both = [shops.live, shops.test];
    const getOther = ({ mode }: Shop) => (mode === "live" ? shops.test : shops.live);
    for (const shop of both) await createLink(shop);
    let noticeCount = 0;

    const actions: ((shop: Shop) => Promise<void>)[] = [
      async (shop) => void (await createLink(shop)),
      async (shop) => {
        const path = `payment-links?mode=${shop.mode}`;
        const { body } = await callConsole("POST", path, { toAmount: "3" });
        shop.linkIds.push(String(body["id"]));
      },
      async (shop) => {
        const paymentLinkId = random.pick(shop.linkIds);
        if (shop.mode === "test") {
          const path = `test/payment-link/${paymentLinkId}/pay`;
          expect((await callApi(shop, "POST", path, {})).status).toBe(200);
          return;
        }
        noticeCount += 1;
        const notice = { id: `notice-${noticeCount}`, paymentLinkId, amount: "25" };
        const settled = { ...notice, status: "settled" } as const;
        expect(await sendNotice(system.baseUrl, acmeProvider, settled)).toBe(202);
      },
      async (shop) => {
        const offset = random.below(30);
        const { body } = await callApi(shop, "GET", `payment-link?offset=${offset}`);
        expectOwn(shop, body);
      },
      async (shop) => {
        const id = random.pick(shop.linkIds);
        const { body } = await callConsole("GET", `payment-links?mode=${shop.mode}&q=${id}`);
        expect((body["data"] as { id: string }[]).map((link) => link.id)).toEqual([id]);
        const otherPath = `payment-links?mode=${getOther(shop).mode}&q=${id}`;
        expect((await callConsole("GET", otherPath)).body["data"]).toEqual([]);
      },
      async (shop) => {
        const { body } = await callConsole("GET", `payment-links?mode=${shop.mode}`);
        expectOwn(shop, body);
      },
      async (shop) => {
        for (const file of ["payment-links.csv", "payments.csv"]) {
          const { body } = await callConsole("GET", `${file}?mode=${shop.mode}`);
          const text = String(body["text"]);
          for (const id of getOther(shop).linkIds) expect(text).not.toContain(id);
        }
      },
      async (shop) => {
        const { body } = await callConsole("GET", `overview?mode=${shop.mode}`);
        const text = JSON.stringify(body);
        for (const id of getOther(shop).linkIds) expect(text).not.toContain(id);
        const counts = Object.values(body["links"] as Record<string, { count: number }>);
        const total = counts.reduce((sum, { count }) => sum + count, 0);
        expect(total).toBe(shop.linkIds.length);
      },
      async (shop) => {
        const path = `webhook-deliveries?linkId=${random.pick(shop.linkIds)}&mode=${getOther(shop).mode}`;
        expect((await callConsole("GET", path)).body["data"]).toEqual([]);
      },
      async () => {
        const action = random.pick(["pay", "expire", "deactivate"]);
        const liveId = random.pick(shops.live.linkIds);
        const path = (id: string) => `test/payment-link/${id}/${action}`;
        expect((await callApi(shops.live, "POST", path(liveId), {})).status).toBe(403);
        expect(
          (await callApi(shops.live, "POST", path(random.pick(shops.test.linkIds)), {})).status,
        ).toBe(403);
        expect((await callApi(shops.test, "POST", path(liveId), {})).status).toBe(404);
      },
    ];
    for (let count = 0; count < 200; count += 1) await random.pick(actions)(random.pick(both));

    // The last webhook of each mode proves that the earlier ones have been handed over.
    for (const shop of both) {
      const id = await createLink(shop);
      await (shop.mode === "test"
        ? callApi(shop, "POST", `test/payment-link/${id}/pay`, {})
        : sendNotice(system.baseUrl, acmeProvider, {
            id: "last",
            paymentLinkId: id,
            amount: "25",
            status: "settled",
          }));
      await waitUntil("the last webhooks arrive", () =>
        receiver.received.some(({ body }) => body.data["paymentLinkId"] === id),
      );
    }
    expect(receiver.received.length).toBeGreaterThan(20);
    for (const webhook of receiver.received) {
      const shop = webhook.path === "/test" ? shops.test : shops.live;
      expect(shop.linkIds).toContain(webhook.body.data["paymentLinkId"]);
      expect(isSignedWith(shop.secret, webhook)).toBe(true);
    }
  });
});

const expectOwn = (shop: Shop, page: Record<string, unknown>): void => {
  for (const { id } of page["data"] as { id: string }[]) expect(shop.linkIds).toContain(id);
};
