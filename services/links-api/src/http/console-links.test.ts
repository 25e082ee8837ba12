import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Account } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lockLinks } from "../store/links.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement, start } from "../testing/samples.ts";

const rig = useRig(openRig);
let account: Account;
let session: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  session = rig.giveSession(account);
});

const base = "/console/api/payment-links";
const get = (path: string, headers = session) => rig.call(base + path, { headers });
const post = (path: string, body?: string, headers = session) =>
  rig.call(base + path, { method: "POST", headers, ...(body === undefined ? {} : { body }) });
const create = async (order: object = {}): Promise<string> =>
  (await post("", JSON.stringify({ toAmount: "5", ...order }))).json.id;

describe("the console's payment links", () => {
  test("creating answers as the public call, and needs no scope", async () => {
    const made = await post("", '{"toAmount":"5"}');
    expect(made.status).toBe(200);
    expect(Object.keys(made.json)).toEqual(["id", "url"]);
    expect((await get("")).json.data[0].id).toBe(made.json.id);
    const refused = await post("", "{}");
    expect([refused.status, refused.json.errors[0].code]).toEqual([422, "missing"]);
  });

  test("one link shows its newest 100 payments, and the pages all of them", async () => {
    const id = await create({ toAmount: "1000" });
    const made: string[] = [];
    for (let index = 0; index < 103; index += 1) {
      const firstSeenAt = new Date(start.getTime() + index);
      const settlement = sampleSettlement(id, { amount: "1", firstSeenAt });
      await rig.settle(settlement);
      made.unshift(settlement.id);
    }
    const { json: link } = await get(`/${id}`);
    const { user: _user, ...retrieved } = await rig.retrieve(id);
    const { payments, addressGap, ...shown } = link;
    expect(addressGap).toBeNull();
    expect(shown).toEqual(retrieved);
    expect(payments.map((payment: { id: string }) => payment.id)).toEqual(made.slice(0, 100));

    const last = (await get(`/${id}/payments?offset=100`)).json;
    expect(last).toMatchObject({ limit: 10, offset: 100, nextOffset: null });
    expect(last.data.map((payment: { id: string }) => payment.id)).toEqual(made.slice(100));
    const first = (await get(`/${id}/payments`)).json;
    expect(first.data).toEqual(payments.slice(0, 10));
    expect(first.nextOffset).toBe(10);
    expect((await get(`/${id}/payments?offset=x`)).status).toBe(422);
  });

  test("deactivating answers the link, tells it once, and is refused from then on (rule STATE-4)", async () => {
    const id = await create();
    const answer = await post(`/${id}/deactivate`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id, status: "inactive" });
    const events = await rig.eventsOf(id);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      "payment_link.deactivated",
    ]);
    expect(events[1]?.data.link).toMatchObject({ version: 2, status: "inactive" });
    const again = await post(`/${id}/deactivate`);
    expect([again.status, again.json.errors[0].code]).toEqual([409, "PAYMENT_LINK_NOT_ACTIVE"]);
  });

  test("the audit log is told of a deactivation: who, how and from where; of a refused one nothing", async () => {
    const own = sampleAccount();
    const headers = { ...rig.giveSession(own), "user-agent": "Browser/1.0" };
    const { id } = (await post("", '{"toAmount":"5"}', headers)).json;
    await post(`/${id}/deactivate`, undefined, headers);
    await post(`/${id}/deactivate`, undefined, headers);
    const told = await rig.readAudit(own.id);
    expect(told.filter(({ action }) => action === "payment_link.deactivated")).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        accountId: own.id,
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

  test("the audit log is told where a person's new link settles to, once, and of a key's nothing", async () => {
    const own = sampleAccount();
    const headers = rig.giveSession(own);
    const { id } = (await post("", '{"toAmount":"5"}', headers)).json;
    const once = { ...headers, "idempotency-key": "order-1" };
    const kept = (await post("", '{"toAmount":"6"}', once)).json;
    expect((await post("", '{"toAmount":"6"}', once)).json).toEqual(kept);
    await rig.createLink(rig.giveKey(own), { toAmount: "7" });
    const told = await rig.readAudit(own.id);
    expect(told.map(({ action, targetId }) => [action, targetId])).toEqual([
      ["payment_link.created", id],
      ["payment_link.created", kept.id],
    ]);
    const { destinationAddress, token } = await rig.retrieve(id);
    const detail = { toAmount: "5", chainId: token.chain.id, destinationAddress };
    expect(told[0]).toMatchObject({ detail, method: "siwe", actor: { kind: "session" } });
  });

  test("given a completed or an expired link, deactivating is refused (rules STATE-4 and STATE-5)", async () => {
    const completed = await create();
    await rig.settle(sampleSettlement(completed, { amount: "5" }));
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const expired = await create({ expirationDate });
    rig.clock.advance(1000);
    for (const id of [completed, expired]) {
      expect((await post(`/${id}/deactivate`)).status).toBe(409);
    }
  });

  test("given a payment that completes the link first, a deactivation under way is refused", async () => {
    const id = await create();
    const deactivation = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      const pending = post(`/${id}/deactivate`);
      // The call saw an active link, and waits for its row.
      await rig.untilBlocked(tx);
      await rig.settleWithin(tx, sampleSettlement(id, { amount: "5" }));
      return { pending };
    });
    expect((await deactivation.pending).status).toBe(409);
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    expect(await rig.eventsOf(id)).toHaveLength(3);
  });

  test("what is another's answers 404, as if it did not exist (rule CALLER-6)", async () => {
    const id = await create();
    const stranger = rig.giveSession(sampleAccount());
    const answers = [
      await get(`/${id}`, stranger),
      await get(`/${id}/payments`, stranger),
      await post(`/${id}/deactivate`, undefined, stranger),
      await get("/plink_x"),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.json.errors[0].code]).toEqual([404, "NOT_FOUND"]);
    }
    expect((await rig.retrieve(id)).status).toBe("active");
  });

  test("given no session, a key instead, or another site's request, is refused", async () => {
    const id = await create();
    const key = rig.giveKey(account);
    for (const headers of [{}, key, { cookie: "session-links=unknown" }]) {
      expect((await get(`/${id}`, headers as Record<string, string>)).status).toBe(401);
    }
    const crossSite = { ...session, origin: "https://evil.example" };
    const answer = await post(`/${id}/deactivate`, undefined, crossSite);
    expect([answer.status, answer.json.errors[0].code]).toEqual([403, "CROSS_SITE_REQUEST"]);
  });
});
