import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServerResponse } from "node:http";
import { createOutgoingEvent } from "@payment-links/bus";
import {
  Decimal,
  type PaymentLinkState,
  linkCompleted,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
  linkTransactionUnapplied,
  newId,
} from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type Receiver,
  respondWithStatus,
  expectedSignature,
  startReceiver,
} from "../testing/start-receiver.ts";
import {
  type Person,
  type RegisteredEndpoint,
  type Rig,
  endpointsPath,
  createRig,
} from "../testing/create-rig.ts";
import { sampleLink, sampleTransaction } from "../testing/samples.ts";

const gapsMs = [30_000, 300_000, 1_800_000, 7_200_000, 43_200_000];

let receiver: Receiver;
let rig: Rig;
beforeEach(async () => {
  receiver = await startReceiver();
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
  });
});
afterEach(async () => {
  await receiver.close();
  await rig.close();
});

const publishPayment = (link: PaymentLinkState, transaction = sampleTransaction()) => {
  const occurredAt = rig.clock.now();
  const data = { link, transaction };
  return rig.publish(
    createOutgoingEvent(linkTransactionSucceeded, { key: link.id, occurredAt, data }),
  );
};

/** Waits until the newest log entry has this many attempts and none in progress, and returns it. */
const waitForLogEntry = (person: Person, endpoint: RegisteredEndpoint, attempts: number) =>
  waitUntil(`attempt ${attempts} is in the log`, async () => {
    const [entry] = await rig.readLog(person, endpoint);
    const isUnderWay = entry?.["status"] === "Pending" && entry["nextAttemptAt"] === null;
    return entry?.["attempts"] === attempts && !isUnderWay ? entry : undefined;
  });

describe("one attempt", () => {
  test("is signed over its timestamp and raw body, which is compact with sorted keys (rules HOOK-8 and HOOK-12)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person, "/hook?shop=1");
    await rig.service.start();
    rig.clock.advance(1_500);
    const link = sampleLink({ userId: person.userId, description: 'Größe \u2028 "42"' });
    const transaction = sampleTransaction();
    await publishPayment(link, transaction);
    const [receivedWebhook] = await waitUntil(
      "the webhook arrives",
      () => receiver.received.length > 0 && receiver.received,
    );
    if (receivedWebhook === undefined) throw new Error("no webhook was received");

    expect([receivedWebhook.method, receivedWebhook.path]).toEqual(["POST", "/hook?shop=1"]);
    expect(receivedWebhook.headers).toMatchObject({
      host: "receiver.test",
      "content-type": "application/json",
      "accept-encoding": "identity",
      "service-timestamp": "1795255201",
      "service-event-id": receivedWebhook.body.id,
      "user-agent": expect.stringMatching(/./),
    });
    expect(receivedWebhook.headers["service-signature"]).toBe(
      expectedSignature(receivedWebhook, endpoint.secret),
    );

    expect(receivedWebhook.raw).toBe(
      `{"createdAt":"2026-11-21T10:00:01.500Z","data":{"amount":"25","chainId":"8453",` +
        `"currentUsage":1,"description":${JSON.stringify(link.description)},"maxUsage":null,` +
        `"paymentLinkId":"${link.id}","receivedAmount":"10.5","status":"active",` +
        `"tokenAddress":"${link.tokenAddress}","transaction":{"amount":"10.5","chainId":"8453",` +
        `"dateCreated":"2026-11-21T09:58:00.000Z","id":"${transaction.id}",` +
        `"sourceTransaction":"${transaction.sourceTransaction}","status":"settled",` +
        `"tokenAddress":"${transaction.tokenAddress}"}},"id":"${receivedWebhook.body.id}",` +
        `"type":"payment_link.transaction.succeeded"}`,
    );
    expect(await waitForLogEntry(person, endpoint, 1)).toMatchObject({
      id: receivedWebhook.body.id,
      status: "Delivered",
      httpStatus: 200,
      error: null,
      nextAttemptAt: null,
    });
  });

  test("of payment_link.completed has no transaction and exact amounts (rule HOOK-9)", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await rig.service.start();
    const toAmount = new Decimal("12345678901234567.123456");
    const receivedAmount = new Decimal("0");
    await rig.publishCompleted(person, {
      status: "completed",
      toAmount,
      receivedAmount,
      maxUsage: 3,
    });
    const [receivedWebhook] = await waitUntil(
      "the webhook arrives",
      () => receiver.received.length > 0 && receiver.received,
    );
    expect(receivedWebhook?.body["data"]).toMatchObject({
      status: "completed",
      amount: "12345678901234567.123456",
      receivedAmount: "0",
      maxUsage: 3,
    });
    expect(receivedWebhook?.raw).not.toContain('transaction"');
  });

  test("of payment_link.transaction.unapplied has the bytes of payment_link.transaction.succeeded, its own type and the reason, and is sent once (rule HOOK-21)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const transaction = sampleTransaction();
    await publishPayment(link, transaction);
    rig.clock.advance(1);
    const unapplied = createOutgoingEvent(linkTransactionUnapplied, {
      key: link.id,
      occurredAt: rig.clock.now(),
      data: { link: { ...link, version: 3 }, transaction: { ...transaction, reason: "expired" } },
    });
    const id = await rig.publish(unapplied);
    await rig.publish(unapplied, { id });
    await rig.publishCompleted(person);
    const received = await waitUntil("the webhooks arrive", () => {
      const { received: webhooks } = receiver;
      return webhooks.length >= 3 && webhooks;
    });
    const findRaw = (type: string) =>
      received.filter(({ body }) => body["type"] === type).map(({ raw }) => raw);
    const [succeededRaw = ""] = findRaw("payment_link.transaction.succeeded");
    const unappliedRaws = findRaw("payment_link.transaction.unapplied");
    const unappliedBody = received.find(
      ({ body }) => body["type"] === "payment_link.transaction.unapplied",
    );
    const succeededId: unknown = JSON.parse(succeededRaw).id;
    expect(unappliedRaws).toEqual([
      succeededRaw
        .replace("10:00:00.000Z", "10:00:00.001Z")
        .replace(String(succeededId), String(unappliedBody?.body.id))
        .replace('"sourceTransaction"', '"reason":"expired","sourceTransaction"')
        .replace("transaction.succeeded", "transaction.unapplied"),
    ]);
    const { json } = await rig.call(
      person,
      "GET",
      `${endpoint.path}/deliveries?eventType=payment_link.transaction.unapplied`,
    );
    expect(json.data).toMatchObject([
      { eventType: "payment_link.transaction.unapplied", paymentId: transaction.id },
    ]);
  });

  test("with any 2xx response delivers the webhook and is not repeated (rule HOOK-13)", async () => {
    receiver.respondWith((res, { path }) => respondWithStatus(Number(path?.slice(1)))(res));
    await rig.service.start();
    for (const status of [200, 201, 204, 299]) {
      const person = rig.signIn();
      const endpoint = await rig.register(person, `/${status}`);
      await rig.publishCompleted(person);
      const delivered = {
        status: "Delivered",
        httpStatus: status,
        error: null,
        nextAttemptAt: null,
      };
      expect(await waitForLogEntry(person, endpoint, 1)).toMatchObject(delivered);
    }
    rig.clock.advance(48 * 3_600_000);
    await waitForQueuePoll();
    expect(receiver.received.filter(({ path }) => path !== "/witness")).toHaveLength(4);
  });

  test("with any other status fails and is retried, without following redirects (rule HOOK-13)", async () => {
    const redirectTarget = await startReceiver();
    const headers = { location: `${redirectTarget.origin}/there`, "retry-after": "1" };
    receiver.respondWith((res, { path }) =>
      respondWithStatus(Number(path?.slice(1)), headers)(res),
    );
    await rig.service.start();
    for (const status of [300, 301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 503, 599]) {
      const person = rig.signIn();
      const endpoint = await rig.register(person, `/${status}`);
      await rig.publishCompleted(person);
      expect(await waitForLogEntry(person, endpoint, 1)).toMatchObject({
        status: "Pending",
        httpStatus: status,
        error: `status ${status}`,
        nextAttemptAt: new Date(rig.clock.now().getTime() + 30_000).toISOString(),
      });
    }
    expect(redirectTarget.connectionsCount()).toBe(0);
    await redirectTarget.close();
  });

  test("with a 2xx after its deadline fails and is retried with the same id", async () => {
    const heldResponses: ServerResponse[] = [];
    receiver.respondWith((res) => void heldResponses.push(res));
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitUntil("the attempt is in progress", () => heldResponses.length === 1);
    rig.clock.advance(10_000);
    expect(await waitForLogEntry(person, endpoint, 1)).toMatchObject({
      status: "Pending",
      error: "time-out",
      nextAttemptAt: new Date(rig.clock.now().getTime() + 30_000).toISOString(),
    });
    for (const res of heldResponses) respondWithStatus(204)(res);
    receiver.respondWith(respondWithStatus(204));
    rig.clock.advance(30_000);
    expect(await waitForLogEntry(person, endpoint, 2)).toMatchObject({ status: "Delivered" });
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(1);
  });

  /** Waits until the dispatcher has polled its queue at least once since the call. */
  const waitForQueuePoll = async () => {
    const probeUser = rig.signIn();
    const endpoint = await rig.register(probeUser, "/witness");
    receiver.respondWith(respondWithStatus(200));
    await rig.publishCompleted(probeUser);
    await waitForLogEntry(probeUser, endpoint, 1);
  };

  test("is never retried early, counted from the end of the failed attempt", async () => {
    receiver.respondWith(respondWithStatus(500));
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitForLogEntry(person, endpoint, 1);
    rig.clock.advance(29_999);
    await waitForQueuePoll();
    expect(receiver.received.filter(({ path }) => path === "/hook")).toHaveLength(1);
    rig.clock.advance(1);
    await waitForLogEntry(person, endpoint, 2);
  });
});

describe("six attempts", () => {
  test("follow the schedule over fifteen hours and a restart, with one id and fresh timestamps (rules HOOK-11 and HOOK-14)", async () => {
    receiver.respondWith(respondWithStatus(503));
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const link = sampleLink({ userId: person.userId });
    let { service } = await rig.startAnother();
    await publishPayment(link);
    const sentAt: number[] = [rig.clock.now().getTime()];
    for (const [index, gapMs] of gapsMs.entries()) {
      await waitForLogEntry(person, endpoint, index + 1);
      if (index === 2) {
        await service.stop();
        ({ service } = await rig.startAnother());
      }
      rig.clock.advance(gapMs);
      sentAt.push(rig.clock.now().getTime());
    }
    expect(await waitForLogEntry(person, endpoint, 6)).toMatchObject({
      status: "Failed",
      httpStatus: 503,
      error: "status 503",
      nextAttemptAt: null,
    });
    rig.clock.advance(30 * 24 * 3_600_000);
    receiver.respondWith(respondWithStatus(200));
    await rig.publishCompleted(person, { ...link, version: 3, status: "completed" });
    expect(await waitForLogEntry(person, endpoint, 1)).toMatchObject({ status: "Delivered" });

    const firstSix = receiver.received.slice(0, 6);
    expect(new Set(firstSix.map(({ headers }) => headers["service-event-id"])).size).toBe(1);
    expect(new Set(firstSix.map(({ body }) => body["createdAt"])).size).toBe(1);
    expect(firstSix.map(({ headers }) => Number(headers["service-timestamp"]))).toEqual(
      sentAt.map((instant) => instant / 1000),
    );
    const [endpointData] = (await rig.call(person, "GET", endpointsPath)).json.data;
    expect(endpointData).toMatchObject({ lastOutcome: "Delivered", consecutiveFailures: 0 });
  });

  test("increase the endpoint's consecutive failures until one succeeds (rule HOOK-17)", async () => {
    receiver.respondWith(respondWithStatus(500));
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitForLogEntry(person, endpoint, 1);
    rig.clock.advance(30_000);
    await waitForLogEntry(person, endpoint, 2);
    const listEndpoints = async () => (await rig.call(person, "GET", endpointsPath)).json.data;
    expect(await listEndpoints()).toMatchObject([
      { lastOutcome: "Failed", consecutiveFailures: 2 },
    ]);
    receiver.respondWith(respondWithStatus(200));
    rig.clock.advance(300_000);
    expect(await waitForLogEntry(person, endpoint, 3)).toMatchObject({
      status: "Delivered",
      error: null,
    });
    expect(await listEndpoints()).toMatchObject([
      { lastOutcome: "Delivered", consecutiveFailures: 0 },
    ]);
  });
});

describe("data", () => {
  test("has the link's state at send time, and the event's id, createdAt and transaction (rules HOOK-8 and HOOK-10)", async () => {
    receiver.respondWith(respondWithStatus(500));
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({
      userId: person.userId,
      version: 2,
      maxUsage: 5,
      expirationDate: new Date(rig.clock.now().getTime() + 330_000),
    });
    const transaction = sampleTransaction();
    await publishPayment(link, transaction);
    await waitForLogEntry(person, endpoint, 1);

    const laterLink = { ...link, version: 3, currentUsage: 2, receivedAmount: new Decimal("21") };
    const eventFields = { key: link.id, occurredAt: rig.clock.now() };
    await rig.publish(
      createOutgoingEvent(linkSnapshot, { ...eventFields, data: { link: laterLink } }),
    );
    rig.clock.advance(30_000);
    await waitForLogEntry(person, endpoint, 2);
    // A delayed record with an older version is ignored.
    await rig.publish(createOutgoingEvent(linkSnapshot, { ...eventFields, data: { link } }));
    rig.clock.advance(300_000);
    await waitForLogEntry(person, endpoint, 3);
    await rig.publish(
      createOutgoingEvent(linkDeactivated, {
        ...eventFields,
        data: { link: { ...laterLink, version: 4, status: "inactive", expirationDate: null } },
      }),
    );
    rig.clock.advance(1_800_000);
    await waitForLogEntry(person, endpoint, 4);

    const sentBodies = receiver.received.map(({ body }) => body);
    const data = sentBodies.map((body) => body["data"] as Record<string, unknown>);
    expect(
      data.map(({ status, receivedAmount, currentUsage }) => [
        status,
        receivedAmount,
        currentUsage,
      ]),
    ).toEqual([
      ["active", "10.5", 1],
      ["active", "21", 2],
      // The link expires at this time, although no event reports it.
      ["inactive", "21", 2],
      ["inactive", "21", 2],
    ]);
    for (const [index, body] of sentBodies.entries()) {
      expect([body.id, body["createdAt"]]).toEqual([sentBodies[0]?.id, "2026-11-21T10:00:00.000Z"]);
      expect(data[index]?.["transaction"]).toMatchObject({ id: transaction.id, amount: "10.5" });
    }
  });
});

describe("one event", () => {
  test("creates one delivery with its own id per enabled endpoint, even if it is received again (rules KEEP-3, HOOK-1 and HOOK-11)", async () => {
    const person = rig.signIn();
    const [first, second, disabledEndpoint] = [
      await rig.register(person),
      await rig.register(person),
      await rig.register(person),
    ];
    await rig.call(person, "PATCH", disabledEndpoint.path, { enabled: false });
    await rig.register(rig.signIn());
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const event = createOutgoingEvent(linkCompleted, {
      key: link.id,
      occurredAt: rig.clock.now(),
      data: { link },
    });
    const id = await rig.publish(event);
    await rig.publish(event, { id });
    await publishPayment({ ...link, version: 3 });
    await waitUntil("four webhooks arrive", () => receiver.received.length === 4);
    const lateEndpoint = await rig.register(person);
    await waitForLogEntry(person, first, 1);
    await waitForLogEntry(person, second, 1);
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(4);
    expect(await rig.readLog(person, first)).toHaveLength(2);
    expect(await rig.readLog(person, disabledEndpoint)).toEqual([]);
    expect(await rig.readLog(person, lateEndpoint)).toEqual([]);
  });

  test("is sent once when one batch contains it twice", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const eventFields = { key: link.id, occurredAt: rig.clock.now(), data: { link } };
    const record = rig.toKafkaRecord(createOutgoingEvent(linkCompleted, eventFields), newId("evt"));
    await rig.bus.publish([record, record]);
    await waitUntil("a webhook arrives", () => receiver.received.length > 0);
    // Stopping waits for attempts in progress.
    await rig.service.stop();
    expect(receiver.received).toHaveLength(1);
  });

  const transaction = sampleTransaction();
  const createPaidEvent = (link: PaymentLinkState, paidTransaction = transaction) =>
    createOutgoingEvent(linkTransactionSucceeded, {
      key: link.id,
      occurredAt: rig.clock.now(),
      data: { link, transaction: paidTransaction },
    });
  const waitForDelivered = (person: Person, endpoint: RegisteredEndpoint, count: number) =>
    waitUntil(`${count} webhooks are delivered`, async () => {
      const log = await rig.readLog(person, endpoint);
      return log.length === count && log.every(({ status }) => status === "Delivered");
    });

  test("is not sent when it is received again after newer ones, even to newer endpoints (rule KEEP-5)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const disabledEndpoint = await rig.register(person);
    await rig.call(person, "PATCH", disabledEndpoint.path, { enabled: false });
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const event = createPaidEvent(link);
    const id = await rig.publish(event);
    rig.clock.advance(1_000);
    const newerEvent = createOutgoingEvent(linkCompleted, {
      key: link.id,
      occurredAt: rig.clock.now(),
      data: { link: { ...link, version: 3 } },
    });
    const newerId = await rig.publish(newerEvent);
    await waitForDelivered(person, endpoint, 2);
    await rig.call(person, "PATCH", disabledEndpoint.path, { enabled: true });
    const lateEndpoint = await rig.register(person);
    await rig.publish(event, { id });
    await rig.publish(newerEvent, { id: newerId });
    expect(await rig.readLog(person, endpoint)).toHaveLength(2);
    expect(await rig.readLog(person, disabledEndpoint)).toEqual([]);
    expect(await rig.readLog(person, lateEndpoint)).toEqual([]);
    expect(receiver.received).toHaveLength(2);
  });

  test("is recognized by its id when a restored source republishes it days later, while new events are sent (rule EVENT-7)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const id = await rig.publish(createPaidEvent(link));
    await rig.publish(createPaidEvent({ ...link, version: 5 }), { id: newId("evt") });
    await waitForDelivered(person, endpoint, 2);
    rig.clock.advance(3 * 24 * 60 * 60_000);
    await rig.publish(createPaidEvent(link), { id });
    await rig.publish(createPaidEvent({ ...link, version: 3 }));
    await waitForDelivered(person, endpoint, 3);
    // The event is still a duplicate if it contains a newer state of its link.
    await rig.publish(createPaidEvent({ ...link, version: 6 }), { id });
    // Stopping waits for attempts in progress.
    await rig.service.stop();
    expect(receiver.received).toHaveLength(3);
  });

  test("is recognized by its id when restored services detect its payment again later", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const firstAt = rig.clock.now().toISOString();
    const id = await rig.publish(createPaidEvent(link));
    await waitForDelivered(person, endpoint, 1);
    rig.clock.advance(3 * 24 * 60 * 60_000);
    const seenAgainTransaction = { ...transaction, dateCreated: rig.clock.now() };
    await rig.publish(createPaidEvent(link, seenAgainTransaction), { id });
    const log = await rig.readLog(person, endpoint);
    expect(log.map(({ dateCreated }) => dateCreated)).toEqual([firstAt]);
  });

  test("of a restored source is not sent to an endpoint registered before its second arrival", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    await rig.publish(createPaidEvent({ ...link, version: 5 }));
    await waitForDelivered(person, endpoint, 1);
    rig.clock.advance(60_000);
    const event = createPaidEvent({ ...link, version: 3 });
    const id = await rig.publish(event);
    await waitForDelivered(person, endpoint, 2);
    rig.clock.advance(1_000);
    const lateEndpoint = await rig.register(person);
    await rig.publish(event, { id });
    expect(await rig.readLog(person, lateEndpoint)).toEqual([]);
    await rig.publish(createPaidEvent({ ...link, version: 4 }));
    await waitForDelivered(person, lateEndpoint, 1);
    await waitForDelivered(person, endpoint, 3);
  });

  test("has the same id for an endpoint when this service is restored and receives it again", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    const event = createPaidEvent(link);
    const id = await rig.publish(event);
    await waitUntil("a webhook arrives", () => receiver.received.length === 1);
    await waitUntil("the result is stored", () =>
      rig.pool.exists(
        sql.type(z.object({}).strict())`SELECT FROM delivery_log WHERE event_id = ${id}`,
      ),
    );
    for (const table of ["deliveries", "delivery_log", "links"]) {
      await rig.pool.query(sql.type(z.object({}).strict())`DELETE FROM ${sql.identifier([table])}`);
    }
    await rig.publish(event, { id });
    await waitUntil("the webhook arrives again", () => receiver.received.length === 2);
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(1);
  });

  test.each([
    ["with a lower version", async () => rig.clock.advance(5 * 60_000)],
    [
      "over a state without a publish time",
      async () => rig.pool.query(sql.type(z.object({}).strict())`UPDATE links SET told_at = NULL`),
    ],
  ])(
    "stores a link's state when a restored source republishes it %s",
    async (_, makeStoredStateOld) => {
      const person = rig.signIn();
      const endpoint = await rig.register(person);
      await rig.service.start();
      const link = sampleLink({ userId: person.userId });
      await rig.publish(createPaidEvent({ ...link, version: 6, description: "lost" }));
      await waitForDelivered(person, endpoint, 1);
      await makeStoredStateOld();
      const snapshot = { key: link.id, occurredAt: rig.clock.now(), data: { link } };
      await rig.publish(createOutgoingEvent(linkSnapshot, snapshot));
      await rig.publish(createPaidEvent({ ...link, version: 3, description: "restored" }));
      await waitForDelivered(person, endpoint, 2);
      const sentData = receiver.received.map(({ body }) => body["data"] as Record<string, unknown>);
      expect(sentData.map(({ description }) => description)).toEqual(["lost", "restored"]);
    },
  );

  test("of another type sends nothing (rules EVENT-6, STATE-4 and HOOK-7)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    await rig.service.start();
    const link = sampleLink({ userId: person.userId, status: "inactive" });
    const eventFields = { key: link.id, occurredAt: rig.clock.now(), data: { link } };
    await rig.publish(createOutgoingEvent(linkDeactivated, eventFields));
    await rig.publish(createOutgoingEvent(linkSnapshot, eventFields));
    expect(await rig.readLog(person, endpoint)).toEqual([]);
  });
});
