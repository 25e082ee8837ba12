import { describe, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { expireLinks } from "../jobs/expire-links.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(createRig);
const hourMs = 3_600_000;

const fetchPage = async (headers: Record<string, string>, query = "") =>
  (await rig.call(`/v1/payment-link${query}`, { headers })).json;

const listIds = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

/** Creates an account with a link in every status, the newest last. */
const createMixedLinks = async () => {
  const account = sampleAccount();
  const headers = rig.createKeyHeaders(account);
  const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
  const createLink = (overrides: object = {}) => {
    rig.clock.advance(1);
    return rig.createLink(headers, { toAmount: "5", ...overrides });
  };
  const ids = {
    expired: await createLink({ expirationDate }),
    completed: await createLink(),
    deactivated: await createLink(),
    active: await createLink(),
  };
  await rig.settle(sampleSettlement(ids.completed, { amount: "5" }));
  await rig.call(`/console/api/payment-links/${ids.deactivated}/deactivate`, {
    method: "POST",
    headers: rig.createSessionHeaders(account),
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
    "given %i links, returns pages newest first, and nextOffset null on the last one (rules API-4 and API-5)",
    async (count, expectedSizes) => {
      const headers = rig.createKeyHeaders(sampleAccount());
      const created: string[] = [];
      for (let index = 0; index < count; index += 1) {
        // Some links are created in the same millisecond. They must still be listed in the order of
        // creation.
        if (index % 3 === 0) rig.clock.advance(1);
        created.unshift(await rig.createLink(headers, { toAmount: "1" }));
      }
      const seenIds: string[] = [];
      const seenSizes: number[] = [];
      let offset: number | null = 0;
      while (offset !== null) {
        const page = await fetchPage(headers, `?offset=${offset}`);
        expect(Object.keys(page)).toEqual(["data", "limit", "offset", "nextOffset"]);
        expect([page.limit, page.offset]).toEqual([10, offset]);
        seenIds.push(...listIds(page));
        seenSizes.push(page.data.length);
        offset = page.nextOffset;
      }
      expect(seenIds).toEqual(created);
      expect(seenSizes).toEqual(expectedSizes);
    },
  );

  test("given a status, returns the links with that current status, whether or not the expiry job has run (rules API-4 and STATE-3)", async () => {
    const { headers, ids } = await createMixedLinks();
    const expectLists = async () => {
      expect(listIds(await fetchPage(headers))).toEqual([
        ids.active,
        ids.deactivated,
        ids.completed,
        ids.expired,
      ]);
      expect(listIds(await fetchPage(headers, "?status=active"))).toEqual([ids.active]);
      expect(listIds(await fetchPage(headers, "?status=completed"))).toEqual([ids.completed]);
      expect(listIds(await fetchPage(headers, "?status=inactive"))).toEqual([
        ids.deactivated,
        ids.expired,
      ]);
      const { data } = await fetchPage(headers);
      expect(data.map(({ status }: { status: string }) => status)).toEqual([
        "active",
        "inactive",
        "completed",
        "inactive",
      ]);
    };
    await expectLists();
    await expireLinks(rig.dependencies).run();
    await expectLists();
  });

  /** Creates a link that expires in an hour, and a clock that is five hours ahead. */
  const createLinkAndFastClock = async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + hourMs).toISOString();
    const headers = rig.createKeyHeaders(sampleAccount());
    const id = await rig.createLink(headers, { toAmount: "5", expirationDate });
    return {
      headers,
      id,
      fastClock: createFakeClock(new Date(rig.clock.now().getTime() + 5 * hourMs)),
    };
  };

  test("lists a link as active again if a fast clock marked it as expired and the clock was corrected", async () => {
    const { headers, id, fastClock } = await createLinkAndFastClock();
    const job = expireLinks({ ...rig.dependencies, clock: fastClock });
    await job.run();
    expect((await rig.retrieve(id)).status).toBe("inactive");
    fastClock.setBack(5 * hourMs);
    await job.run();
    expect((await rig.retrieve(id)).status).toBe("active");
    expect(listIds(await fetchPage(headers, "?status=active"))).toEqual([id]);
    rig.clock.advance(hourMs);
    fastClock.advance(hourMs);
    await job.run();
    expect(listIds(await fetchPage(headers, "?status=inactive"))).toEqual([id]);
  });

  test("lists such a link as active again also after a restart with the correct clock", async () => {
    const { headers, id, fastClock } = await createLinkAndFastClock();
    await expireLinks({ ...rig.dependencies, clock: fastClock }).run();
    expect(listIds(await fetchPage(headers, "?status=inactive"))).toEqual([id]);

    const job = expireLinks(rig.dependencies);
    await job.run();
    expect(listIds(await fetchPage(headers, "?status=active"))).toEqual([id]);
    rig.clock.advance(hourMs);
    await job.run();
    expect(listIds(await fetchPage(headers, "?status=inactive"))).toEqual([id]);
  });

  test("given a filter and an offset, applies the offset to the filtered list (rule API-5)", async () => {
    const account = sampleAccount();
    const headers = rig.createKeyHeaders(account);
    const expiresAt = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const created: string[] = [];
    for (let index = 0; index < 13; index += 1) {
      rig.clock.advance(1);
      created.unshift(await rig.createLink(headers, { toAmount: "1", expirationDate: expiresAt }));
      await rig.createLink(headers, { toAmount: "1" });
    }
    rig.clock.advance(1000);
    const firstPage = await fetchPage(headers, "?status=inactive");
    expect([listIds(firstPage), firstPage.nextOffset]).toEqual([created.slice(0, 10), 10]);
    const secondPage = await fetchPage(headers, "?status=inactive&offset=10");
    expect([listIds(secondPage), secondPage.nextOffset]).toEqual([created.slice(10), null]);
    const pageBeyondEnd = await fetchPage(headers, "?status=inactive&offset=2147483647");
    expect([listIds(pageBeyondEnd), pageBeyondEnd.nextOffset]).toEqual([[], null]);
  });

  test("returns all fields of a link and no others, with transactionUrl always null (rules API-7 and API-10)", async () => {
    const { headers, ids } = await createMixedLinks();
    const { data } = await fetchPage(headers, "?status=completed");
    const { user: _user, ...retrieved } = await rig.retrieve(ids.completed);
    expect(retrieved.transactionUrl).not.toBeNull();
    expect(data).toEqual([{ ...retrieved, transactionUrl: null }]);
  });

  test("returns all links of the owner, created by any key or in the console, and no others (rule API-4)", async () => {
    const account = sampleAccount();
    const keyLinkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    const created = await rig.call("/console/api/payment-links", {
      method: "POST",
      headers: rig.createSessionHeaders(account),
      body: '{"toAmount":"2"}',
    });
    await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "3" });
    const page = await fetchPage(rig.createKeyHeaders(account, { scopes: ["payment_link:read"] }));
    expect(listIds(page)).toEqual([created.json.id, keyLinkId]);
  });

  test.each([
    ["?status=open", ["enum"]],
    ["?status=", ["enum"]],
    ["?status=active&status=inactive", ["enum"]],
    ["?offset=x", ["int_parsing"]],
    ["?offset=-1", ["greater_than_equal"]],
    ["?offset=2147483648", ["less_than_equal"]],
    ["?status=x&offset=x", ["enum", "int_parsing"]],
  ])("given %s, returns 422 %j", async (query, codes) => {
    const response = await rig.call(`/v1/payment-link${query}`, {
      headers: rig.createKeyHeaders(sampleAccount({ handle: null })),
    });
    expect(response.status).toBe(422);
    expect(response.json.errors.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test("ignores unknown parameters, and returns 409 for an account that is not ready (rules API-16 and API-18)", async () => {
    expect(
      (await fetchPage(rig.createKeyHeaders(sampleAccount()), "?limit=50&order=x")).limit,
    ).toBe(10);
    for (const account of [sampleAccount({ handle: null }), sampleAccount({ wallets: [] })]) {
      const response = await rig.call("/v1/payment-link", {
        headers: rig.createKeyHeaders(account),
      });
      expect(response.status).toBe(409);
      expect(response.json.errors[0].code).toBe("PAYMENT_LINK_ACCOUNT_NOT_READY");
    }
  });

  test("given a key without the scope, returns 403 (rule API-4)", async () => {
    const headers = rig.createKeyHeaders(sampleAccount(), { scopes: ["payment_link:create"] });
    const response = await rig.call("/v1/payment-link", { headers });
    expect([response.status, response.json.errors[0].code]).toEqual([
      403,
      "INSUFFICIENT_API_SCOPE",
    ]);
  });
});
