import { describe, expect, test } from "@jest/globals";
import {
  AuditRecord,
  RecentHour,
  linkTransactionSucceeded,
  newId,
  topics,
} from "@payment-links/contracts";
import { createOutgoingEvent } from "@payment-links/bus";
import { sql } from "slonik";
import * as z from "zod";
import { presenceMsMax } from "@payment-links/identity";
import { sqlVoid } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { outcomeFromStatus } from "../delivery/attempt/attempt-outcome.ts";
import { recordEndedAttempts } from "../delivery/record-ended-attempts.ts";
import { parseSecretKeys, openSecret } from "../domain/secret-keys.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { deleteOldHours } from "../store/endpoint-hours.ts";
import { type Person, endpointsPath, createRig, sealingKey } from "../testing/create-rig.ts";
import { sampleDelivery, sampleLink, sampleTransaction } from "../testing/samples.ts";

const resolutions: Record<string, string[]> = {
  "shop.com": ["93.184.216.34", "2606:4700::1"],
  "private.com": ["10.0.0.1"],
  "mixed.com": ["93.184.216.34", "127.0.0.1"],
  "metadata.com": ["169.254.169.254"],
};

const rig = useRig(() =>
  createRig({
    environment: {
      WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:1",
      WEBHOOK_HEADER_PREFIX: "Acme",
    },
    outside: {
      resolve: async (hostName) => {
        const addresses = resolutions[hostName];
        if (addresses === undefined) throw new Error("ENOTFOUND");
        return addresses;
      },
    },
  }),
);

const shopEndpoint = { url: "https://shop.com/hook", name: "Shop" };

const createEndpoint = async (person: Person, body: unknown = shopEndpoint) =>
  rig.call(person, "POST", endpointsPath, body);

const listEndpoints = async (person: Person) =>
  (await rig.call(person, "GET", endpointsPath)).json.data;

/** Applies events of the user's link like the consumer, without sending the deliveries. */
const queueDeliveries = async (person: Person, count = 1): Promise<void> => {
  const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
  for (let index = 0; index < count; index += 1) {
    await rig.publishCompleted(person);
    rig.clock.advance(1);
  }
  await service.stop();
};

describe("POST /console/api/webhook-endpoints", () => {
  // Otherwise, an attacker with a stolen session cookie could receive all further payment events.
  test("requires a proof of presence from the last ten minutes, and returns the methods for it", async () => {
    const nowMs = rig.clock.now().getTime();
    const recentUser = rig.signIn(new Date(nowMs - presenceMsMax + 1));
    const staleUser = rig.signIn(new Date(nowMs - presenceMsMax));
    expect((await createEndpoint(recentUser)).status).toBe(201);
    const rejected = await createEndpoint(staleUser);
    expect(rejected.status).toBe(401);
    expect(rejected.json.errors).toMatchObject([
      { code: "REAUTHENTICATION_REQUIRED", methods: ["link", "siwe"] },
    ]);
    expect(await listEndpoints(staleUser)).toEqual([]);
  });

  test("returns the endpoint with its secret, which is never returned again (rule HOOK-5)", async () => {
    const person = rig.signIn();
    const { status, json } = await createEndpoint(person);
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^whe_/),
      url: "https://shop.com/hook",
      name: "Shop",
      mode: "live",
      enabled: true,
      secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/),
      secretPrefix: json.secret.slice(0, 10),
      dateCreated: rig.clock.now().toISOString(),
      lastOutcome: null,
      consecutiveFailures: 0,
      errors: [],
      data: [],
    });
    const { errors: _errors, data: _data, secret, ...endpointFields } = json;
    const listedEndpoints = await listEndpoints(person);
    expect(listedEndpoints).toEqual([{ ...endpointFields, recent: expect.any(Array) }]);
    const renamed = await rig.call(person, "PATCH", `${endpointsPath}/${json.id}`, { name: "B" });
    expect(JSON.stringify([listedEndpoints, renamed])).not.toContain(secret);
  });

  test("stores the secret only sealed: tables and logs do not contain it, but it can be opened (rule KEEP-7)", async () => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person);
    const tables = ["endpoints", "deliveries", "links", "outbox", "positions", "dead_letters"];
    const TextRow = z.object({ text: z.string() });
    const digits = json.secret.slice("whsec_".length);
    for (const table of tables) {
      const tableRows = await rig.pool.any(sql.type(TextRow)`
        SELECT row_to_json(t)::text AS text FROM ${sql.identifier([table])} AS t
      `);
      // PostgreSQL prints bytea in hex, so clear text would still be found.
      const encodings = [digits, Buffer.from(digits).toString("hex")];
      expect(tableRows.filter(({ text }) => encodings.some((form) => text.includes(form)))).toEqual(
        [],
      );
    }
    expect(rig.logLines.join("")).not.toContain(digits);
    const SealedRow = z.object({ sealed: z.instanceof(Buffer), keyName: z.string() });
    const storedSecret = await rig.pool.one(sql.type(SealedRow)`
      SELECT sealed_secret AS sealed, secret_key_name AS "keyName"
      FROM endpoints WHERE id = ${json.id}
    `);
    expect(storedSecret.keyName).toBe("first");
    const keys = parseSecretKeys(sealingKey);
    if (keys === undefined) throw new Error("the rig's key is invalid");
    expect(openSecret(keys, storedSecret, json.id)).toBe(json.secret);
  });

  test.each([
    ["http", "http://shop.com/hook", "https://"],
    ["a port", "https://shop.com:443/hook", "a port"],
    ["credentials", "https://a:b@shop.com/hook", "a password"],
    ["a fragment", "https://shop.com/hook#a", "a fragment"],
    ["localhost", "https://localhost/hook", "must be public"],
    ["an IP literal", "https://127.0.0.1/hook", "must be public"],
    ["no scheme", "shop", "must be absolute"],
    ["an empty text", "", "must be absolute"],
    ["NUL", "https://shop.com/\0", "control characters"],
    ["2049 characters", "https://shop.com/".padEnd(2049, "a"), "at most 2048 characters"],
    ["a host that does not resolve", "https://nowhere.com/hook", "must be public"],
    ["a host that resolves to a private address", "https://private.com/hook", "must be public"],
    ["a host with one private address of several", "https://mixed.com/hook", "must be public"],
    ["a host that resolves to a metadata address", "https://metadata.com/hook", "must be public"],
    ["a subdomain of an overridden host", "https://a.receiver.test/hook", "must be public"],
  ])(
    "rejects a URL with %s with a single code, and says why (rules HOOK-2 and HOOK-3)",
    async (_name, url, reason) => {
      const person = rig.signIn();
      const { status, codes, json } = await createEndpoint(person, { url, name: "Shop" });
      expect([status, codes]).toEqual([422, ["INVALID_WEBHOOK_URL"]]);
      expect(json.errors).toEqual([
        expect.objectContaining({ message: expect.stringContaining(reason) }),
      ]);
      expect(await listEndpoints(person)).toEqual([]);
    },
  );

  test("accepts an overridden host without a DNS query, and a URL of 2048 code points", async () => {
    const person = rig.signIn();
    const overridden = await createEndpoint(person, {
      ...shopEndpoint,
      url: "https://receiver.test/hook",
    });
    expect([overridden.status, overridden.json["url"]]).toEqual([
      201,
      "https://receiver.test/hook",
    ]);
    const longUrl = "https://shop.com/".padEnd(2048, "a");
    expect((await createEndpoint(person, { ...shopEndpoint, url: longUrl })).json["url"]).toBe(
      longUrl,
    );
  });

  test.each([
    ["no name", { url: shopEndpoint.url }, ["missing"]],
    ["a name that is not a string", { url: shopEndpoint.url, name: 1 }, ["string_type"]],
    ["an empty name", { url: shopEndpoint.url, name: "" }, ["string_too_short"]],
    [
      "a name over 100 code points",
      { url: shopEndpoint.url, name: "a".repeat(101) },
      ["string_too_long"],
    ],
    ["an empty object", {}, ["missing", "missing"]],
    ["a URL that is not a string", { url: 1, name: "Shop" }, ["string_type"]],
    ["a list", [], ["model_attributes_type"]],
  ])("rejects %s with validation codes", async (_name, body, codes) => {
    const response = await createEndpoint(rig.signIn(), body);
    expect([response.status, response.codes]).toEqual([422, codes]);
  });

  test("accepts a name of 100 code points (rule HOOK-2)", async () => {
    const name = "😀".repeat(100);
    expect((await createEndpoint(rig.signIn(), { ...shopEndpoint, name })).json["name"]).toBe(name);
  });

  test("rejects the sixth endpoint, even in concurrent requests, until one is deleted (rule HOOK-1)", async () => {
    const person = rig.signIn();
    const responses = await Promise.all(Array.from({ length: 12 }, () => createEndpoint(person)));
    const statuses = responses.map((response) => response.status).sort((a, b) => a - b);
    expect(statuses).toEqual([...Array(5).fill(201), ...Array(7).fill(409)]);
    const rejected = responses.find((response) => response.status === 409);
    expect(rejected?.codes).toEqual(["WEBHOOK_ENDPOINT_LIMIT"]);
    const [lastListed] = await listEndpoints(person);
    expect(await listEndpoints(person)).toHaveLength(5);
    expect(
      (await rig.call(person, "DELETE", `${endpointsPath}/${String(lastListed?.["id"])}`)).status,
    ).toBe(204);
    expect((await createEndpoint(person)).status).toBe(201);
    expect((await createEndpoint(person)).status).toBe(409);
    expect((await createEndpoint(rig.signIn())).status).toBe(201);
  });

  test("counts a disabled endpoint toward the limit of five (rule HOOK-1)", async () => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person);
    for (let count = 1; count < 5; count += 1) await createEndpoint(person);
    await rig.call(person, "PATCH", `${endpointsPath}/${json.id}`, { enabled: false });
    const { status, codes } = await createEndpoint(person);
    expect([status, codes]).toEqual([409, ["WEBHOOK_ENDPOINT_LIMIT"]]);
  });

  test("requires a session, and rejects cross-site requests and API keys (rule HOOK-1)", async () => {
    const url = `${rig.publicUrl}${endpointsPath}`;
    const postWithHeaders = async (headers: Record<string, string>) =>
      (await fetch(url, { method: "POST", headers, body: JSON.stringify(shopEndpoint) })).status;
    const { token } = rig.signIn();
    expect(await postWithHeaders({})).toBe(401);
    expect(await postWithHeaders({ "x-api-key": "plk_live_x" })).toBe(401);
    expect(await postWithHeaders({ cookie: "session-webhooks=unknown" })).toBe(401);
    const cookie = `session-webhooks=${token}`;
    expect(await postWithHeaders({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await postWithHeaders({ cookie, "content-type": "application/json" })).toBe(201);
  });
});

describe("GET /console/api/webhook-endpoints", () => {
  test("returns the header prefix even before there is an endpoint (rule HOOK-11)", async () => {
    const { json } = await rig.call(rig.signIn(), "GET", endpointsPath);
    expect(json).toMatchObject({ data: [], headerPrefix: "Acme" });
  });

  const hourMs = 3_600_000;

  test("returns the number of delivered and failed attempts for each of the last 24 hours (rule HOOK-17)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const quietEndpoint = await rig.register(person);
    const start = rig.clock.now();
    const listRecentHours = async ({ id }: { id: string }) => {
      const recentHours = (await listEndpoints(person)).find((listed) => listed["id"] === id)?.[
        "recent"
      ];
      return z.array(RecentHour).parse(recentHours);
    };
    const atHour = (hours: number) => new Date(start.getTime() + hours * hourMs);
    const createEndedAttempts = (hours: number, delivered: number, failed: number) =>
      [
        ...Array(delivered).fill(outcomeFromStatus(200)),
        ...Array(failed).fill(outcomeFromStatus(500)),
      ].map((outcome) => ({ ...createAttempt(endpoint.id, atHour(hours)), outcome }));
    const recordEndedBatch = (endedAttempts: ReturnType<typeof createEndedAttempts>) =>
      rig.pool.transaction(async (tx) => {
        const deliveries = endedAttempts.map(({ id, eventId, leaseUntil, occurredAt }) =>
          sampleDelivery(endpoint.id, occurredAt, { id, eventId, leaseUntil }),
        );
        await insertDeliveries(tx, deliveries);
        await recordEndedAttempts(tx, endedAttempts, { schedule: [0], random: () => 0 });
      });
    // Two replicas write at the same time. An attempt counts for the hour in which it ended, even
    // if one write covers two hours.
    await Promise.all([
      recordEndedBatch(createEndedAttempts(0, 3, 1)),
      recordEndedBatch(createEndedAttempts(0, 2, 0)),
      recordEndedBatch([...createEndedAttempts(0.99, 1, 0), ...createEndedAttempts(1, 0, 7)]),
    ]);
    rig.clock.advance(1.5 * hourMs);
    const recent = await listRecentHours(endpoint);
    expect(recent).toHaveLength(24);
    expect(recent.slice(-3)).toEqual([
      { hour: atHour(-1).toISOString(), delivered: 0, failed: 0 },
      { hour: atHour(0).toISOString(), delivered: 6, failed: 1 },
      { hour: atHour(1).toISOString(), delivered: 0, failed: 7 },
    ]);
    expect(recent[0]?.hour).toBe(atHour(-22).toISOString());
    expect(
      (await listRecentHours(quietEndpoint)).every(
        ({ delivered, failed }) => delivered + failed === 0,
      ),
    ).toBe(true);
    rig.clock.advance(22 * hourMs);
    expect((await listRecentHours(endpoint))[0]).toMatchObject({ delivered: 6, failed: 1 });
    rig.clock.advance(hourMs);
    expect((await listRecentHours(endpoint))[0]).toMatchObject({ delivered: 0, failed: 7 });

    expect(await deleteOldHours(rig.pool, { now: rig.clock.now() })).toBe(false);
    const storedHours = await rig.pool.anyFirst(sql.type(z.object({ hour: z.date() }))`
      SELECT hour FROM endpoint_hours WHERE endpoint_id = ${endpoint.id}
    `);
    expect(storedHours).toEqual([atHour(1)]);
  });

  const createAttempt = (endpointId: string, endedAt: Date) => ({
    id: newId("evt"),
    eventId: newId("evt"),
    endpointId,
    occurredAt: endedAt,
    attempts: 1,
    startedAt: endedAt,
    endedAt,
    durationMs: 1,
    sentBody: "{}",
    leaseUntil: endedAt,
  });
});

describe("PATCH /console/api/webhook-endpoints/{id}", () => {
  test("renames, disables and enables an endpoint, and returns it", async () => {
    const person = rig.signIn();
    const path = `${endpointsPath}/${(await createEndpoint(person)).json.id}`;
    const patched = await rig.call(person, "PATCH", path, { name: "Renamed", enabled: false });
    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({ name: "Renamed", enabled: false, secret: "" });
    expect((await rig.call(person, "PATCH", path, { enabled: true })).json).toMatchObject({
      name: "Renamed",
      enabled: true,
    });
    expect((await rig.call(person, "PATCH", path, {})).status).toBe(200);
  });

  test.each([
    ["a URL", { url: "https://shop.com/other" }, ["no_update"]],
    ["a null URL", { url: null, name: "B" }, ["no_update"]],
    ["a name that is too long", { name: "a".repeat(101) }, ["string_too_long"]],
    ["a switch that is not a boolean", { enabled: "yes" }, ["bool_type"]],
    [
      "several problems",
      { url: "x", name: 1, enabled: null },
      ["no_update", "string_type", "bool_type"],
    ],
  ])("rejects %s without changing anything (rule HOOK-2)", async (_name, changes, codes) => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person);
    const response = await rig.call(person, "PATCH", `${endpointsPath}/${json.id}`, changes);
    expect([response.status, response.codes]).toEqual([422, codes]);
    expect((await listEndpoints(person))[0]).toMatchObject({
      url: shopEndpoint.url,
      name: "Shop",
      enabled: true,
    });
  });

  test("abandons queued deliveries when it disables, and replays nothing when it enables (rule HOOK-6)", async () => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person);
    const path = `${endpointsPath}/${json.id}`;
    await queueDeliveries(person);
    const queuedEntries = (await rig.call(person, "GET", `${path}/deliveries`)).json.data;
    expect(queuedEntries).toMatchObject([{ status: "Pending", nextAttemptAt: expect.any(String) }]);
    await rig.call(person, "PATCH", path, { enabled: false });
    const abandonedEntry = { status: "Failed", error: "endpoint disabled", nextAttemptAt: null };
    expect((await rig.call(person, "GET", `${path}/deliveries`)).json.data).toMatchObject([
      abandonedEntry,
    ]);
    await queueDeliveries(person);
    await rig.call(person, "PATCH", path, { enabled: true });
    expect((await rig.call(person, "GET", `${path}/deliveries`)).json.data).toMatchObject([
      abandonedEntry,
    ]);
  });

  test("leaves nothing queued for a disabled endpoint when an event arrives at the same time", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person, shopEndpoint.url);
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    for (let round = 0; round < 20; round += 1) {
      const publishing = round % 2 === 0 ? rig.publishCompleted(person) : undefined;
      const disabling = rig.call(person, "PATCH", endpoint.path, { enabled: false });
      await Promise.all([
        publishing,
        disabling,
        rig.publishCompleted(person),
        rig.publishCompleted(person),
      ]);
      const entries = await rig.readLog(person, endpoint);
      expect(entries.filter(({ status }) => status === "Pending")).toEqual([]);
      await rig.call(person, "PATCH", endpoint.path, { enabled: true });
    }
    await service.stop();
  });
});

describe("DELETE /console/api/webhook-endpoints/{id}", () => {
  test("removes the endpoint from the list and abandons its queue; its log stays readable by id (rule HOOK-6)", async () => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person);
    const path = `${endpointsPath}/${json.id}`;
    await queueDeliveries(person);
    expect((await rig.call(person, "DELETE", path)).status).toBe(204);
    expect(await listEndpoints(person)).toEqual([]);
    const { status, json: log } = await rig.call(person, "GET", `${path}/deliveries`);
    expect(status).toBe(200);
    expect(log.data).toMatchObject([
      { status: "Failed", error: "endpoint deleted", nextAttemptAt: null },
    ]);
    expect((await rig.call(person, "DELETE", path)).status).toBe(404);
    expect((await rig.call(person, "PATCH", path, { enabled: true })).status).toBe(404);
  });
});

describe("GET /console/api/webhook-endpoints/{id}/deliveries", () => {
  test("returns ten per page, newest first, without a next page after exactly ten", async () => {
    const person = rig.signIn();
    const path = `${endpointsPath}/${(await createEndpoint(person)).json.id}/deliveries`;
    await queueDeliveries(person, 10);
    expect((await rig.call(person, "GET", path)).json["nextOffset"]).toBeNull();
    await queueDeliveries(person, 2);
    const first = (await rig.call(person, "GET", path)).json;
    expect(first).toMatchObject({ limit: 10, offset: 0, nextOffset: 10 });
    const second = (await rig.call(person, "GET", `${path}?offset=10`)).json;
    expect(second).toMatchObject({ limit: 10, offset: 10, nextOffset: null });
    const dates = [...first.data, ...second.data].map((entry) => String(entry["dateCreated"]));
    expect(dates).toHaveLength(12);
    expect(dates).toEqual([...dates].sort().reverse());
    expect((await rig.call(person, "GET", `${path}?offset=50`)).json).toMatchObject({
      data: [],
      nextOffset: null,
    });
    const tooFar = await rig.call(person, "GET", `${path}?offset=2147483648`);
    expect(tooFar.codes).toEqual(["less_than_equal"]);
  });

  test("rejects the second of two concurrent deep pages of one account with 429 (rule API-26)", async () => {
    const person = rig.signIn();
    const path = `${endpointsPath}/${(await createEndpoint(person)).json.id}/deliveries`;
    const calls: ReturnType<typeof rig.call>[] = [];
    await rig.pool.transaction(async (tx) => {
      await tx.query(sqlVoid`LOCK TABLE delivery_log IN ACCESS EXCLUSIVE MODE`);
      calls.push(rig.call(person, "GET", `${path}?offset=1000000`));
      await waitUntil("the request waits for a lock", async () => (await countLockWaits(tx)) > 0);
      expect((await rig.call(person, "GET", `${path}?offset=10000`)).status).toBe(429);
    });
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200]);
  });

  test("returns every field of an entry (rule HOOK-16)", async () => {
    const person = rig.signIn();
    const path = `${endpointsPath}/${(await createEndpoint(person)).json.id}/deliveries`;
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    const link = sampleLink({ userId: person.userId });
    const transaction = sampleTransaction();
    const data = { link, transaction };
    const occurredAt = rig.clock.now();
    await rig.publish(
      createOutgoingEvent(linkTransactionSucceeded, { key: link.id, occurredAt, data }),
    );
    await service.stop();
    expect((await rig.call(person, "GET", path)).json.data).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        eventType: "payment_link.transaction.succeeded",
        linkId: link.id,
        paymentId: transaction.id,
        status: "Pending",
        attempts: 0,
        httpStatus: null,
        error: null,
        dateCreated: occurredAt.toISOString(),
        lastAttemptAt: null,
        nextAttemptAt: new Date(occurredAt.getTime() + 3_600_000).toISOString(),
      },
    ]);
  });
});

describe("another account's endpoint", () => {
  test("is not found by any request, and its queue stays unchanged", async () => {
    const owner = rig.signIn();
    const otherUser = rig.signIn();
    const path = `${endpointsPath}/${(await createEndpoint(owner)).json.id}`;
    await queueDeliveries(owner);
    const responses = [
      rig.call(otherUser, "PATCH", path, { enabled: false }),
      rig.call(otherUser, "DELETE", path),
      rig.call(otherUser, "GET", `${path}/deliveries`),
      rig.call(owner, "GET", `${endpointsPath}/${newId("whe")}/deliveries`),
      rig.call(owner, "DELETE", `${endpointsPath}/whe_%00`),
    ];
    for (const { status, codes } of await Promise.all(responses)) {
      expect([status, codes]).toEqual([404, ["NOT_FOUND"]]);
    }
    const [queuedEntries] = (await rig.call(owner, "GET", `${path}/deliveries`)).json.data;
    expect(queuedEntries).toMatchObject({ status: "Pending" });
    expect(await listEndpoints(owner)).toMatchObject([{ enabled: true }]);
  });
});

describe("the audit log", () => {
  const Row = z.object({ id: z.string(), key: z.string(), value: z.string() });
  const readAuditEvents = async ({ userId }: Person) => {
    const rows = await rig.pool.any(sql.type(Row)`
      SELECT id, key, value FROM outbox WHERE topic = ${topics.audit} AND key = ${userId}
      ORDER BY seq
    `);
    return rows.map(({ value }) => z.decode(AuditRecord, JSON.parse(value)));
  };

  test("records added, changed and deleted endpoints and the shown secret, with actor, method and address but without secrets", async () => {
    const person = rig.signIn();
    const { json } = await createEndpoint(person, {
      url: "https://shop.com/t0ken?k=t0ken",
      name: "Shop",
    });
    const path = `${endpointsPath}/${json.id}`;
    await rig.call(person, "PATCH", path, { enabled: false });
    await rig.call(person, "PATCH", path, { name: "Other" });
    await rig.call(person, "DELETE", path);
    const auditEvents = await readAuditEvents(person);
    expect(auditEvents.map(({ action, detail }) => [action, detail])).toEqual([
      ["webhook_endpoint.added", { origin: "https://shop.com", name: "Shop", mode: "live" }],
      ["webhook_endpoint.secret_shown", {}],
      ["webhook_endpoint.changed", { enabled: false }],
      ["webhook_endpoint.changed", { name: "Other" }],
      ["webhook_endpoint.deleted", {}],
    ]);
    for (const auditEvent of auditEvents) {
      expect(auditEvent).toMatchObject({
        id: expect.stringMatching(/^aud_/),
        accountId: person.userId,
        at: rig.clock.now(),
        actor: { kind: "session", id: expect.stringMatching(/^sess_/), operator: null },
        address: expect.stringMatching(/127\.0\.0\.1$/),
        userAgent: "node",
        method: "passkey",
        targetId: json.id,
      });
    }
    expect(JSON.stringify(auditEvents)).not.toMatch(/t0ken|whsec_/);
  });

  test("records no rejected requests", async () => {
    const person = rig.signIn();
    const otherUser = rig.signIn();
    const { json } = await createEndpoint(otherUser);
    const path = `${endpointsPath}/${json.id}`;
    await createEndpoint(person, { url: "https://private.com/hook", name: "Shop" });
    await rig.call(person, "PATCH", path, { enabled: false });
    await rig.call(person, "DELETE", path);
    expect(await readAuditEvents(person)).toEqual([]);
    expect(await readAuditEvents(otherUser)).toHaveLength(2);
  });
});
