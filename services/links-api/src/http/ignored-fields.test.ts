import { expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Pool } from "@payment-links/postgres";
import { deleteOldIgnoredFields } from "../jobs/delete-ignored-fields.ts";
import { createIgnoredFieldsRecorder } from "../store/ignored-fields.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);

const createShop = () => {
  const account = sampleAccount();
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  return {
    create: (body: object, headers: Record<string, string> = keyHeaders) =>
      rig.call("/v1/payment-link", { method: "POST", headers, body: JSON.stringify(body) }),
    createInConsole: (body: object) =>
      rig.call("/console/api/payment-links", {
        method: "POST",
        headers: sessionHeaders,
        body: JSON.stringify(body),
      }),
    keyHeaders,
    otherKeyHeaders: rig.createKeyHeaders(account),
    listIgnored: async () => {
      const path = "/console/api/payment-links/ignored-fields";
      return (await rig.call(path, { headers: sessionHeaders })).json.data;
    },
  };
};

const header = "payment-links-ignored-fields";

test("create names ignored fields in a header, with the same status and body as without them (rule API-43)", async () => {
  const { create, createInConsole } = createShop();
  const body = { toAmount: "1", max_usage: 1, "a\r\nSet-Cookie: x": 1, success_url: "https://a" };
  for (const send of [create, createInConsole]) {
    const { status, json, headers } = await send(body);
    expect([status, Object.keys(json)]).toEqual([200, ["id", "url"]]);
    expect(headers.get(header)).toBe("max_usage, success_url");
    expect(headers.get("set-cookie")).toBeNull();
    const known = await send({
      toAmount: "1",
      description: "a",
      maxUsage: 1,
      expirationDate: null,
    });
    expect([known.status, known.headers.get(header)]).toEqual([200, null]);
  }
  const rejected = await create({ toAmount: "0", max_usage: 1 });
  expect([rejected.status, rejected.headers.get(header)]).toEqual([422, null]);
});

test("a repeat with the same idempotency key gets the same header (rules API-19 and API-43)", async () => {
  const { create, keyHeaders } = createShop();
  const headers = { ...keyHeaders, "idempotency-key": "order-1" };
  const responses = [
    await create({ toAmount: "1", currency: "USD" }, headers),
    await create({ toAmount: "1", currency: "USD" }, headers),
  ];
  expect(responses[1]?.json).toEqual(responses[0]?.json);
  expect(responses.map((response) => response.headers.get(header))).toEqual([
    "currency",
    "currency",
  ]);
});

test("the owner sees the latest ignored names of each key, without values, for 30 days (rule API-43)", async () => {
  const { create, createInConsole, keyHeaders, otherKeyHeaders, listIgnored } = createShop();
  await create({ toAmount: "1", currency: "a-value" });
  const firstSeenAt = rig.clock.now().toISOString();
  rig.clock.advance(1_000);
  await create({ toAmount: "1", success_url: "a-value" }, otherKeyHeaders);
  await createInConsole({ toAmount: "1", console_field: "a-value" });
  const listed = await listIgnored();
  expect(listed).toEqual([
    { keyId: expect.stringMatching(/^key_/), names: ["success_url"], seenAt: expect.any(String) },
    { keyId: expect.stringMatching(/^key_/), names: ["currency"], seenAt: firstSeenAt },
  ]);
  expect(listed[0].keyId).not.toBe(listed[1].keyId);
  expect(await createShop().listIgnored()).toEqual([]);
  rig.clock.advance(1_000);
  await create({ toAmount: "1", max_usage: 1 }, keyHeaders);
  expect((await listIgnored())[0]).toMatchObject({ keyId: listed[1].keyId, names: ["max_usage"] });
  rig.clock.advance(30 * 24 * 60 * 60_000 + 1);
  await deleteOldIgnoredFields(rig.dependencies).run();
  expect(await listIgnored()).toEqual([]);
});

test("the names of a key are stored at most once per second, or per minute if they are the same (rule API-43)", async () => {
  const { create, listIgnored } = createShop();
  const names: string[] = [];
  for (const [name, delayMs] of [
    ["first", 0],
    ["second", 999],
    ["third", 1],
    ["third", 59_999],
    ["third", 1],
  ] as const) {
    rig.clock.advance(delayMs);
    await create({ toAmount: "1", [name]: 1 });
    const [{ names: stored, seenAt }] = await listIgnored();
    names.push(`${stored.join()} ${rig.clock.now().getTime() - Date.parse(seenAt)}`);
  }
  expect(names).toEqual(["first 0", "first 999", "third 0", "third 59999", "third 0"]);
});

test("names that cannot be stored are logged and do not fail the create", async () => {
  const pool = { query: () => Promise.reject(new Error("no connection")) } as unknown as Pool;
  const record = createIgnoredFieldsRecorder({ ...rig.dependencies, pool });
  await record({ id: "key_1", userId: "user_1", mode: "live" }, ["currency"]);
  expect(rig.logLines.join("")).toContain("ignored fields not stored");
});
