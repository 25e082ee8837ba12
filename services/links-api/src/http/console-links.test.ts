import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Account } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { transact } from "@payment-links/postgres";
import { lockLinks } from "../store/links.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, testStartTime } from "../testing/samples.ts";

const rig = useRig(createRig);
let account: Account;
let sessionHeaders: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  sessionHeaders = rig.createSessionHeaders(account);
});

const basePath = "/console/api/payment-links";
const get = (path: string, headers = sessionHeaders) => rig.call(basePath + path, { headers });
const post = (path: string, body?: string, headers = sessionHeaders) =>
  rig.call(basePath + path, { method: "POST", headers, ...(body === undefined ? {} : { body }) });
const createLink = async (body: object = {}): Promise<string> =>
  (await post("", JSON.stringify({ toAmount: "5", ...body }))).json.id;

describe("the console's payment link endpoints", () => {
  test("create a link with the same response as the public API, without a scope", async () => {
    const created = await post("", '{"toAmount":"5"}');
    expect(created.status).toBe(200);
    expect(Object.keys(created.json)).toEqual(["id", "url"]);
    expect((await get("")).json.data[0].id).toBe(created.json.id);
    const rejected = await post("", "{}");
    expect([rejected.status, rejected.json.errors[0].code]).toEqual([422, "missing"]);
  });

  test("return a link with its newest 100 payments, and all payments in pages", async () => {
    const id = await createLink({ toAmount: "1000" });
    const created: string[] = [];
    for (let index = 0; index < 103; index += 1) {
      const firstSeenAt = new Date(testStartTime.getTime() + index);
      const settlement = sampleSettlement(id, { amount: "1", firstSeenAt });
      await rig.settle(settlement);
      created.unshift(settlement.id);
    }
    const { json: link } = await get(`/${id}`);
    const { user: _user, ...retrieved } = await rig.retrieve(id);
    const { payments, refunds, addressGap, inactiveReason, mode, ...linkFields } = link;
    expect([addressGap, inactiveReason, mode, refunds]).toEqual([null, null, "live", []]);
    expect(linkFields).toEqual(retrieved);
    expect(payments.map((payment: { id: string }) => payment.id)).toEqual(created.slice(0, 100));

    const lastPage = (await get(`/${id}/payments?offset=100`)).json;
    expect(lastPage).toMatchObject({ limit: 10, offset: 100, nextOffset: null });
    expect(lastPage.data.map((payment: { id: string }) => payment.id)).toEqual(created.slice(100));
    const firstPage = (await get(`/${id}/payments`)).json;
    expect(firstPage.data).toEqual(payments.slice(0, 10));
    expect(firstPage.nextOffset).toBe(10);
    expect((await get(`/${id}/payments?offset=x`)).status).toBe(422);
  });

  test("show the sender of a payment, which no public response and no event contains (rule CALLER-42)", async () => {
    const id = await createLink();
    const sender = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";
    const settlement = sampleSettlement(id, { amount: "5", payer: sender });
    await rig.settle(settlement);
    expect((await get(`/${id}`)).json.payments).toMatchObject([{ sender }]);
    expect((await get(`/${id}/payments`)).json.data).toMatchObject([{ sender }]);
    const { url } = await rig.retrieve(id);
    const publicPaths = [
      `/v1/payment-link/${id}`,
      `/checkout/payment-links/${id}`,
      `/checkout/transactions/${settlement.id}`,
      `/tx/${settlement.id}`,
      new URL(url).pathname,
    ];
    for (const path of publicPaths) {
      const response = await fetch(`${rig.publicUrl}${path}`);
      expect(response.status).toBe(200);
      expect((await response.text()).toLowerCase()).not.toContain(sender.toLowerCase());
    }
    expect(JSON.stringify(await rig.listEvents(id))).not.toContain(sender);
  });

  test("deactivate a link once with one event, and reject further attempts (rule STATE-4)", async () => {
    const id = await createLink();
    const response = await post(`/${id}/deactivate`);
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({ id, status: "inactive" });
    const events = await rig.listEvents(id);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      "payment_link.deactivated",
    ]);
    expect(events[1]?.data.link).toMatchObject({ version: 2, status: "inactive" });
    const secondResponse = await post(`/${id}/deactivate`);
    expect([secondResponse.status, secondResponse.json.errors[0].code]).toEqual([
      409,
      "PAYMENT_LINK_NOT_ACTIVE",
    ]);
  });

  test("audit a deactivation with actor, method and address, but not a rejected one", async () => {
    const otherAccount = sampleAccount();
    const headers = { ...rig.createSessionHeaders(otherAccount), "user-agent": "Browser/1.0" };
    const { id } = (await post("", '{"toAmount":"5"}', headers)).json;
    await post(`/${id}/deactivate`, undefined, headers);
    await post(`/${id}/deactivate`, undefined, headers);
    const auditRecords = await rig.listAuditRecords(otherAccount.id);
    expect(auditRecords.filter(({ action }) => action === "payment_link.deactivated")).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        accountId: otherAccount.id,
        at: rig.clock.now(),
        action: "payment_link.deactivated",
        actor: { kind: "session", id: expect.anything(), operator: null },
        address: expect.stringMatching(/127\.0\.0\.1$/),
        userAgent: "Browser/1.0",
        method: "siwe",
        targetId: id,
        detail: {},
      },
    ]);
  });

  test("audit the destination of a link created by a person once, but not links created by a key", async () => {
    const otherAccount = sampleAccount();
    const headers = rig.createSessionHeaders(otherAccount);
    const { id } = (await post("", '{"toAmount":"5"}', headers)).json;
    const idempotentHeaders = { ...headers, "idempotency-key": "order-1" };
    const createdOnce = (await post("", '{"toAmount":"6"}', idempotentHeaders)).json;
    expect((await post("", '{"toAmount":"6"}', idempotentHeaders)).json).toEqual(createdOnce);
    await rig.createLink(rig.createKeyHeaders(otherAccount), { toAmount: "7" });
    const auditRecords = await rig.listAuditRecords(otherAccount.id);
    expect(auditRecords.map(({ action, targetId }) => [action, targetId])).toEqual([
      ["payment_link.created", id],
      ["payment_link.created", createdOnce.id],
    ]);
    const { destinationAddress, token } = await rig.retrieve(id);
    const detail = { toAmount: "5", chainId: token.chain.id, destinationAddress };
    expect(auditRecords[0]).toMatchObject({ detail, method: "siwe", actor: { kind: "session" } });
  });

  test("reject the deactivation of a completed or expired link (rules STATE-4 and STATE-5)", async () => {
    const completedId = await createLink();
    await rig.settle(sampleSettlement(completedId, { amount: "5" }));
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const expiredId = await createLink({ expirationDate });
    rig.clock.advance(1000);
    for (const id of [completedId, expiredId]) {
      expect((await post(`/${id}/deactivate`)).status).toBe(409);
    }
  });

  test("reject a deactivation when a concurrent payment completes the link first", async () => {
    const id = await createLink();
    const deactivation = await transact(rig.pool, async (tx) => {
      await lockLinks(tx, [id]);
      const pendingDeactivation = post(`/${id}/deactivate`);
      // The request has read the link as active and is waiting for its row lock.
      await rig.waitUntilBlocked(tx);
      await rig.settleInTransaction(tx, sampleSettlement(id, { amount: "5" }));
      return { pendingDeactivation };
    });
    expect((await deactivation.pendingDeactivation).status).toBe(409);
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    expect(await rig.listEvents(id)).toHaveLength(3);
  });

  test("return 404 for another account's link, as if it did not exist (rule CALLER-6)", async () => {
    const id = await createLink();
    const otherSessionHeaders = rig.createSessionHeaders(sampleAccount());
    const responses = [
      await get(`/${id}`, otherSessionHeaders),
      await get(`/${id}/payments`, otherSessionHeaders),
      await post(`/${id}/deactivate`, undefined, otherSessionHeaders),
      await get("/plink_x"),
    ];
    for (const response of responses) {
      expect([response.status, response.json.errors[0].code]).toEqual([404, "NOT_FOUND"]);
    }
    expect((await rig.retrieve(id)).status).toBe("active");
  });

  test("reject requests without a session, with an API key, or from another site", async () => {
    const id = await createLink();
    const keyHeaders = rig.createKeyHeaders(account);
    for (const headers of [{}, keyHeaders, { cookie: "session-links=unknown" }]) {
      expect((await get(`/${id}`, headers as Record<string, string>)).status).toBe(401);
    }
    const crossSiteHeaders = { ...sessionHeaders, origin: "https://evil.example" };
    const response = await post(`/${id}/deactivate`, undefined, crossSiteHeaders);
    expect([response.status, response.json.errors[0].code]).toEqual([403, "CROSS_SITE_REQUEST"]);
  });
});
