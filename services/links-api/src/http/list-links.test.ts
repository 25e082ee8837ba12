import { describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { expireLinks } from "../jobs/expire-links.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(openRig);
const hourMs = 3_600_000;

const list = async (headers: Record<string, string>, query = "") =>
  (await rig.call(`/v1/payment-link${query}`, { headers })).json;

const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

/** An account with a link in every status, the newest last. */
const openMixed = async () => {
  const account = sampleAccount();
  const headers = rig.giveKey(account);
  const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
  const create = (more: object = {}) => {
    rig.clock.advance(1);
    return rig.createLink(headers, { toAmount: "5", ...more });
  };
  const ids = {
    expired: await create({ expirationDate }),
    completed: await create(),
    deactivated: await create(),
    active: await create(),
  };
  await rig.settle(sampleSettlement(ids.completed, { amount: "5" }));
  await rig.call(`/console/api/payment-links/${ids.deactivated}/deactivate`, {
    method: "POST",
    headers: rig.giveSession(account),
  });
  rig.clock.advance(1000);
  return { headers, ids };
};

describe("GET /v1/payment-link", () => {
  test.each([
    [0, [0]],
    [9, [9]],
    [10, [10]],
    [11, [10, 1]],
    [20, [10, 10]],
    [21, [10, 10, 1]],
  ])(
    "given %i links, pages them newest first, and ends with nextOffset null (rules API-4 and API-5)",
    async (count, sizes) => {
      const headers = rig.giveKey(sampleAccount());
      const made: string[] = [];
      for (let index = 0; index < count; index += 1) {
        // Some in the same millisecond, some later: they are still in the order of creation.
        if (index % 3 === 0) rig.clock.advance(1);
        made.unshift(await rig.createLink(headers, { toAmount: "1" }));
      }
      const seen: string[] = [];
      const seenSizes: number[] = [];
      let offset: number | null = 0;
      while (offset !== null) {
        const page = await list(headers, `?offset=${offset}`);
        expect(Object.keys(page)).toEqual(["data", "limit", "offset", "nextOffset"]);
        expect([page.limit, page.offset]).toEqual([10, offset]);
        seen.push(...idsOf(page));
        seenSizes.push(page.data.length);
        offset = page.nextOffset;
      }
      expect(seen).toEqual(made);
      expect(seenSizes).toEqual(sizes);
    },
  );

  test("given a status, answers the links that have it right now, whether or not the expiry job ran (rules API-4 and STATE-3)", async () => {
    const { headers, ids } = await openMixed();
    const expectLists = async () => {
      expect(idsOf(await list(headers))).toEqual([
        ids.active,
        ids.deactivated,
        ids.completed,
        ids.expired,
      ]);
      expect(idsOf(await list(headers, "?status=active"))).toEqual([ids.active]);
      expect(idsOf(await list(headers, "?status=completed"))).toEqual([ids.completed]);
      expect(idsOf(await list(headers, "?status=inactive"))).toEqual([
        ids.deactivated,
        ids.expired,
      ]);
      const { data } = await list(headers);
      expect(data.map(({ status }: { status: string }) => status)).toEqual([
        "active",
        "inactive",
        "completed",
        "inactive",
      ]);
    };
    await expectLists();
    await expireLinks(rig.deps).run();
    await expectLists();
  });

  /** A link that ends in an hour, and a clock five hours ahead. */
  const openAhead = async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + hourMs).toISOString();
    const headers = rig.giveKey(sampleAccount());
    const id = await rig.createLink(headers, { toAmount: "5", expirationDate });
    return {
      headers,
      id,
      ahead: createHeldClock(new Date(rig.clock.now().getTime() + 5 * hourMs)),
    };
  };

  test("shows a link as active that was marked by a clock which was ahead, once that is right", async () => {
    const { headers, id, ahead } = await openAhead();
    const job = expireLinks({ ...rig.deps, clock: ahead });
    await job.run();
    expect((await rig.retrieve(id)).status).toBe("inactive");
    ahead.setBack(5 * hourMs);
    await job.run();
    expect((await rig.retrieve(id)).status).toBe("active");
    expect(idsOf(await list(headers, "?status=active"))).toEqual([id]);
    rig.clock.advance(hourMs);
    ahead.advance(hourMs);
    await job.run();
    expect(idsOf(await list(headers, "?status=inactive"))).toEqual([id]);
  });

  test("shows it as active also where the process started anew before its clock was right", async () => {
    const { headers, id, ahead } = await openAhead();
    await expireLinks({ ...rig.deps, clock: ahead }).run();
    expect(idsOf(await list(headers, "?status=inactive"))).toEqual([id]);

    const job = expireLinks(rig.deps);
    await job.run();
    expect(idsOf(await list(headers, "?status=active"))).toEqual([id]);
    rig.clock.advance(hourMs);
    await job.run();
    expect(idsOf(await list(headers, "?status=inactive"))).toEqual([id]);
  });

  test("given a filter and an offset, counts within the filtered list (rule API-5)", async () => {
    const account = sampleAccount();
    const headers = rig.giveKey(account);
    const soon = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const made: string[] = [];
    for (let index = 0; index < 13; index += 1) {
      rig.clock.advance(1);
      made.unshift(await rig.createLink(headers, { toAmount: "1", expirationDate: soon }));
      await rig.createLink(headers, { toAmount: "1" });
    }
    rig.clock.advance(1000);
    const first = await list(headers, "?status=inactive");
    expect([idsOf(first), first.nextOffset]).toEqual([made.slice(0, 10), 10]);
    const second = await list(headers, "?status=inactive&offset=10");
    expect([idsOf(second), second.nextOffset]).toEqual([made.slice(10), null]);
    const beyond = await list(headers, "?status=inactive&offset=2147483647");
    expect([idsOf(beyond), beyond.nextOffset]).toEqual([[], null]);
  });

  test("shows every field of a link and no other, transactionUrl always null (rules API-7 and API-10)", async () => {
    const { headers, ids } = await openMixed();
    const { data } = await list(headers, "?status=completed");
    const { user: _user, ...retrieved } = await rig.retrieve(ids.completed);
    expect(retrieved.transactionUrl).not.toBeNull();
    expect(data).toEqual([{ ...retrieved, transactionUrl: null }]);
  });

  test("shows an owner every link of theirs, made by any key or in the console, and nobody else's (rule API-4)", async () => {
    const account = sampleAccount();
    const one = await rig.createLink(rig.giveKey(account), { toAmount: "1" });
    const made = await rig.call("/console/api/payment-links", {
      method: "POST",
      headers: rig.giveSession(account),
      body: '{"toAmount":"2"}',
    });
    await rig.createLink(rig.giveKey(sampleAccount()), { toAmount: "3" });
    const page = await list(rig.giveKey(account, { scopes: ["payment_link:read"] }));
    expect(idsOf(page)).toEqual([made.json.id, one]);
  });

  test.each([
    ["?status=open", ["enum"]],
    ["?status=", ["enum"]],
    ["?status=active&status=inactive", ["enum"]],
    ["?offset=x", ["int_parsing"]],
    ["?offset=-1", ["greater_than_equal"]],
    ["?offset=2147483648", ["less_than_equal"]],
    ["?status=x&offset=x", ["enum", "int_parsing"]],
  ])("given %s, answers 422 %j", async (query, codes) => {
    const answer = await rig.call(`/v1/payment-link${query}`, {
      headers: rig.giveKey(sampleAccount({ handle: null })),
    });
    expect(answer.status).toBe(422);
    expect(answer.json.errors.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test("given unknown parameters, ignores them; given an account that is not ready, answers 409 (rules API-16 and API-18)", async () => {
    expect((await list(rig.giveKey(sampleAccount()), "?limit=50&order=x")).limit).toBe(10);
    for (const account of [sampleAccount({ handle: null }), sampleAccount({ wallets: [] })]) {
      const answer = await rig.call("/v1/payment-link", { headers: rig.giveKey(account) });
      expect(answer.status).toBe(409);
      expect(answer.json.errors[0].code).toBe("PAYMENT_LINK_ACCOUNT_NOT_READY");
    }
  });

  test("given a key without the scope, answers 403 (rule API-4)", async () => {
    const headers = rig.giveKey(sampleAccount(), { scopes: ["payment_link:create"] });
    const answer = await rig.call("/v1/payment-link", { headers });
    expect([answer.status, answer.json.errors[0].code]).toEqual([403, "INSUFFICIENT_API_SCOPE"]);
  });
});
