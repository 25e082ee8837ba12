import { describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import { linkTransactionSucceeded, newId } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { respondWithStatus } from "../testing/start-receiver.ts";
import { sampleLink, sampleTransaction } from "../testing/samples.ts";
import { withEndpoint } from "../testing/with-endpoint.ts";

const succeededType = "payment_link.transaction.succeeded";
const completedType = "payment_link.completed";

const { receiver, rig, person, endpoint } = withEndpoint();

const get = (path: string, user = person) => rig.call(user, "GET", path);

/** Publishes a payment of the user's link. Returns the ids of the link and the payment. */
const publishPayment = async (link = sampleLink({ userId: person.userId })) => {
  const transaction = sampleTransaction();
  const data = { link, transaction };
  const occurredAt = rig.clock.now();
  await rig.publish(
    createOutgoingEvent(linkTransactionSucceeded, { key: link.id, occurredAt, data }),
  );
  rig.clock.advance(1);
  return { linkId: link.id, paymentId: transaction.id };
};

/** Returns the log entries for a query when no attempt is in progress. */
const readSettledLog = (query = "") =>
  waitUntil("no attempt is in progress", async () => {
    const { data } = (await get(`${endpoint.path}/deliveries`)).json;
    const isUnderWay = data.some(
      ({ status, nextAttemptAt }) => status === "Pending" && nextAttemptAt === null,
    );
    return !isUnderWay && (await get(`${endpoint.path}/deliveries?${query}`)).json.data;
  });

describe("a delivery", () => {
  test("has its link and payment while it waits and after it ends (rule HOOK-16)", async () => {
    receiver.respondWith(respondWithStatus(500));
    await rig.service.start();
    const { linkId, paymentId } = await publishPayment();
    expect(await readSettledLog()).toMatchObject([{ status: "Pending", linkId, paymentId }]);
    receiver.respondWith(respondWithStatus(200));
    rig.clock.advance(31_000);
    await waitUntil(
      "the delivery has ended",
      async () => (await readSettledLog("status=Delivered")).length === 1,
    );
    expect(await readSettledLog()).toMatchObject([{ status: "Delivered", linkId, paymentId }]);
  });

  test("of a completed link has no payment", async () => {
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    await rig.publishCompleted(person, link);
    expect(await readSettledLog()).toMatchObject([{ linkId: link.id, paymentId: null }]);
  });
});

describe("GET /console/api/webhook-endpoints/{id}/deliveries/{deliveryId}", () => {
  const readDelivery = async () => {
    const [entry] = await readSettledLog();
    const { json } = await get(`${endpoint.path}/deliveries/${String(entry?.["id"])}`);
    const { attemptLog, ...deliveryFields } = json;
    return { entry, deliveryFields, attemptLog };
  };
  const waitForAttempts = (count: number) =>
    waitUntil(`${count} attempts have ended`, async () => {
      const { attemptLog } = await readDelivery();
      return Array.isArray(attemptLog) && attemptLog.length === count;
    });

  test("returns the entry with the start, duration and result of each attempt (rule HOOK-16)", async () => {
    const responseSeconds = [3, 1, 2];
    const responses = [
      respondWithStatus(503),
      respondWithStatus(302, { location: "https://shop.com/" }),
      respondWithStatus(200),
    ];
    receiver.respondWith((res) => {
      const index = receiver.received.length - 1;
      rig.clock.advance(1_000 * (responseSeconds[index] ?? 0));
      responses[index]?.(res);
    });
    await rig.service.start();
    const startedAt = [rig.clock.now().toISOString()];
    await rig.publishCompleted(person);
    await waitForAttempts(1);
    for (const count of [2, 3]) {
      rig.clock.advance(400_000);
      startedAt.push(rig.clock.now().toISOString());
      await waitForAttempts(count);
    }
    const { attemptLog, entry, deliveryFields } = await readDelivery();
    expect(deliveryFields).toMatchObject(entry ?? {});
    expect(attemptLog).toEqual([
      expectedAttempt(1, startedAt[0], 3_000, 503),
      expectedAttempt(2, startedAt[1], 1_000, 302),
      expectedAttempt(3, startedAt[2], 2_000, 200),
    ]);
  });

  const expectedAttempt = (
    number: number,
    startedAt: string | undefined,
    durationMs: number,
    httpStatus: number,
  ) => {
    const error = httpStatus === 200 ? null : `status ${httpStatus}`;
    return { number, startedAt, durationMs, httpStatus, error };
  };

  test("returns the last request exactly as the receiver got it, even after the link changed (rule HOOK-16)", async () => {
    receiver.respondWith(respondWithStatus(500));
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    await publishPayment(link);
    await waitForAttempts(1);
    receiver.respondWith(respondWithStatus(200));
    rig.clock.advance(31_000);
    await waitForAttempts(2);
    const received = receiver.received.at(-1);
    await publishPayment({ ...link, version: 3, currentUsage: 2 });
    const { data } = (await get(`${endpoint.path}/deliveries`)).json;
    const { json } = await get(`${endpoint.path}/deliveries/${String(received?.body.id)}`);
    expect(data).toHaveLength(2);
    const { headers, ...request } = RequestResponse.parse(json).request;
    expect(request).toEqual({ url: "https://receiver.test/hook", body: received?.raw });
    expect(headers).toHaveLength(6);
    for (const { name, value } of headers) {
      expect([name, received?.headers[name.toLowerCase()]]).toEqual([name, value]);
    }
    expect(JSON.stringify(json)).not.toContain(endpoint.secret);
  });
  const RequestResponse = z.object({
    request: z.object({
      url: z.string(),
      headers: z.array(z.object({ name: z.string(), value: z.string() })),
      body: z.string(),
    }),
  });

  test("returns all six attempts of a delivery that failed permanently", async () => {
    receiver.respondWith(respondWithStatus(500));
    await rig.service.start();
    await rig.publishCompleted(person);
    for (let count = 1; count <= 6; count += 1) {
      await waitForAttempts(count);
      rig.clock.advance(50_000_000);
    }
    const { entry, attemptLog } = await readDelivery();
    expect(entry).toMatchObject({ status: "Failed", attempts: 6 });
    expect(attemptLog).toMatchObject([1, 2, 3, 4, 5, 6].map((number) => ({ number })));
  });

  test("returns no attempt before the first one has ended", async () => {
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    await rig.publishCompleted(person);
    await service.stop();
    expect((await readDelivery()).attemptLog).toEqual([]);
    let sendResponse: (() => void) | undefined;
    receiver.respondWith((res) => void (sendResponse = () => respondWithStatus(500)(res)));
    rig.clock.advance(3_600_000);
    await rig.service.start();
    await waitUntil("the attempt is in progress", () => sendResponse !== undefined);
    const [entry] = (await get(`${endpoint.path}/deliveries`)).json.data;
    expect(entry).toMatchObject({ attempts: 1, lastAttemptAt: null });
    const { json } = await get(`${endpoint.path}/deliveries/${String(entry?.["id"])}`);
    expect(json["attemptLog"]).toEqual([]);
    sendResponse?.();
    await waitForAttempts(1);
  });

  test("stores nothing of a receiver's response except its status (rule HOOK-16)", async () => {
    receiver.respondWith((res) => {
      res.writeHead(500, "told", { "x-told": "told", "set-cookie": "told=1" }).end("told");
    });
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitForAttempts(1);
    expect(JSON.stringify(await readDelivery())).not.toContain("told");
    const rows = await rig.pool.any(sql.type(z.object({ row: z.string() }))`
      SELECT row_to_json(d)::text AS row FROM deliveries d
      UNION ALL SELECT row_to_json(l)::text FROM delivery_log l
    `);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('"told');
  });

  test("returns only the last attempt of a delivery that ended before attempts were stored", async () => {
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitForAttempts(1);
    await rig.pool.query(sqlVoid`
      UPDATE delivery_log SET attempts = 4, duration_ms = NULL, link_id = NULL
    `);
    const { attemptLog } = await readDelivery();
    expect(attemptLog).toMatchObject([{ number: 4, durationMs: null, httpStatus: 200 }]);
  });

  test("returns 404 for another endpoint, another account and an unknown id", async () => {
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitForAttempts(1);
    const { entry } = await readDelivery();
    const id = String(entry?.["id"]);
    const otherEndpoint = await rig.register(person);
    const responses = [
      get(`${otherEndpoint.path}/deliveries/${id}`),
      get(`${endpoint.path}/deliveries/${id}`, rig.signIn()),
      get(`${endpoint.path}/deliveries/${newId("evt")}`),
      get(`${endpoint.path}/deliveries/evt_%00`),
    ];
    for (const { status, codes } of await Promise.all(responses)) {
      expect([status, codes]).toEqual([404, ["NOT_FOUND"]]);
    }
    await rig.call(person, "DELETE", endpoint.path);
    expect((await get(`${endpoint.path}/deliveries/${id}`)).status).toBe(200);
  });
});

describe("the log's filters", () => {
  test("by status and type exclude other entries, alone, combined and across pages (rule HOOK-16)", async () => {
    receiver.respondWith((res, { body }) =>
      respondWithStatus(body.type === completedType ? 200 : 500)(res),
    );
    await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "0" });
    for (let index = 0; index < 12; index += 1) {
      await publishPayment();
      await rig.publishCompleted(person);
    }
    await waitUntil("all webhooks arrive", () => receiver.received.length === 24);
    await readSettledLog();
    const listKinds = async (query: string) => {
      const kinds: string[] = [];
      for (let offset: unknown = 0; typeof offset === "number";) {
        const { json } = await get(`${endpoint.path}/deliveries?${query}&offset=${offset}`);
        kinds.push(
          ...json.data.map(({ status, eventType }) => `${String(status)} ${String(eventType)}`),
        );
        offset = json["nextOffset"];
      }
      return kinds;
    };
    const failedKinds = Array(12).fill(`Failed ${succeededType}`);
    const deliveredKinds = Array(12).fill(`Delivered ${completedType}`);
    expect(await listKinds("status=Failed")).toEqual(failedKinds);
    expect(await listKinds("status=Delivered")).toEqual(deliveredKinds);
    expect(await listKinds(`eventType=${succeededType}`)).toEqual(failedKinds);
    expect(await listKinds(`eventType=${completedType}&status=Delivered`)).toEqual(deliveredKinds);
    expect(await listKinds(`eventType=${completedType}&status=Failed`)).toEqual([]);
    expect(await listKinds("status=Pending")).toEqual([]);
    expect(await listKinds("")).toHaveLength(24);
  });

  test("find waiting deliveries", async () => {
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    const { linkId } = await publishPayment();
    await rig.publishCompleted(person);
    await service.stop();
    expect(await readSettledLog("status=Pending")).toHaveLength(2);
    const paidEntries = await readSettledLog(`status=Pending&eventType=${succeededType}`);
    expect(paidEntries).toMatchObject([{ status: "Pending", linkId }]);
    expect(await readSettledLog("status=Delivered")).toEqual([]);
  });

  test("reject an unknown status and type", async () => {
    const { status, codes } = await get(`${endpoint.path}/deliveries?status=Lost&eventType=x`);
    expect([status, codes]).toEqual([422, ["enum", "enum"]]);
  });
});

describe("GET /console/api/webhook-deliveries", () => {
  const listLinkDeliveries = async (linkId: string, user = person) =>
    (await get(`/console/api/webhook-deliveries?linkId=${linkId}`, user)).json.data;

  test("returns a link's deliveries to all endpoints, including deleted ones, newest first (rule HOOK-18)", async () => {
    const deletedEndpoint = await rig.register(person, "/deleted");
    const link = sampleLink({ userId: person.userId });
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    const { paymentId } = await publishPayment(link);
    await rig.call(person, "DELETE", deletedEndpoint.path);
    await rig.publishCompleted(person, { ...link, version: 3 });
    await rig.publishCompleted(person);
    await service.stop();
    const linkDeliveries = await listLinkDeliveries(link.id);
    expect(
      linkDeliveries.map(({ eventType, status, endpointId }) => [eventType, status, endpointId]),
    ).toEqual(
      expect.arrayContaining([
        [completedType, "Pending", endpoint.id],
        [succeededType, "Pending", endpoint.id],
        [succeededType, "Failed", deletedEndpoint.id],
      ]),
    );
    expect(linkDeliveries).toHaveLength(3);
    expect(linkDeliveries[0]).toMatchObject({
      eventType: completedType,
      linkId: link.id,
      paymentId: null,
    });
    expect(linkDeliveries[1]).toMatchObject({ linkId: link.id, paymentId, endpointName: "Shop" });
    const [entry] = (await get(`${deletedEndpoint.path}/deliveries`)).json.data;
    expect(
      linkDeliveries.find(({ endpointId }) => endpointId === deletedEndpoint.id),
    ).toMatchObject(entry ?? {});
  });

  test("returns pages of ten with pending and ended deliveries", async () => {
    const link = sampleLink({ userId: person.userId });
    receiver.respondWith((res) =>
      respondWithStatus(receiver.received.length % 2 === 0 ? 500 : 200)(res),
    );
    await rig.service.start();
    for (let version = 2; version < 23; version += 1) await publishPayment({ ...link, version });
    expect(await readSettledLog("status=Pending")).not.toEqual([]);
    const ids: unknown[] = [];
    for (let offset: unknown = 0; typeof offset === "number";) {
      const path = `/console/api/webhook-deliveries?linkId=${link.id}&offset=${offset}`;
      const { json } = await get(path);
      ids.push(...json.data.map(({ id }) => id));
      offset = json["nextOffset"];
    }
    expect(new Set(ids).size).toBe(21);
    const [newestEntry] = await listLinkDeliveries(link.id);
    expect(newestEntry).toMatchObject((await readSettledLog())[0] ?? {});
  });

  test("returns an empty page for another account's link and an unknown link (rule HOOK-18)", async () => {
    await rig.service.start();
    const { linkId } = await publishPayment();
    await waitUntil(
      "the delivery has ended",
      async () => (await listLinkDeliveries(linkId)).length === 1,
    );
    const otherUser = rig.signIn();
    await rig.register(otherUser);
    for (const id of [linkId, newId("plink"), "plink_%00", "x"]) {
      const { json, status } = await get(`/console/api/webhook-deliveries?linkId=${id}`, otherUser);
      if (id === "plink_%00") expect(status).toBe(422);
      else expect(json).toMatchObject({ data: [], offset: 0, nextOffset: null });
    }
  });

  test("reads one of several concurrent deep pages of an account and responds to the others with 429", async () => {
    const path = `/console/api/webhook-deliveries?linkId=${newId("plink")}&offset=10000`;
    const responses = await Promise.all(Array.from({ length: 20 }, () => get(path)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]));
  });
});
