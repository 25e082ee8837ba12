import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
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

/** The deadline of an attempt plus the lease margin. */
const leaseMs = 10_000 + 20_000;

let receiver: Receiver;
let rig: Rig;
beforeEach(async () => {
  receiver = await startReceiver();
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
  });
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

const readNewestEntry = async (person: Person, endpoint: RegisteredEndpoint) =>
  (await rig.readLog(person, endpoint))[0];

const Counts = z.object({ status: z.string(), attempts: z.int(), count: z.int() });
const countDeliveries = () =>
  rig.pool.any(sql.type(Counts)`
    SELECT status, attempts, count(*)::int AS count
    FROM (SELECT 'Pending' AS status, attempts FROM deliveries
          UNION ALL SELECT status, attempts FROM delivery_log) AS every
    GROUP BY status, attempts ORDER BY status, attempts
  `);

const countLeased = () =>
  rig.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
    SELECT count(*)::int AS count FROM deliveries WHERE lease_until IS NOT NULL
  `);

const isAllDelivered = (total: number) => async () => {
  const counts = await countDeliveries();
  return (
    counts.every(({ status }) => status === "Delivered") &&
    counts.reduce((sum, { count }) => sum + count, 0) === total
  );
};

describe("several dispatchers with one database", () => {
  test("send every delivery without two attempts at the same time, through failures and retries (rule HOOK-15)", async () => {
    const person = rig.signIn();
    await Promise.all([1, 2, 3, 4, 5].map((index) => rig.register(person, `/${index}`)));
    const inProgressIds = new Set<string>();
    const attemptsById = new Map<string, number>();
    let duplicateCount = 0;
    receiver.respondWith((res, { body: { id } }) => {
      if (inProgressIds.has(id)) duplicateCount += 1;
      inProgressIds.add(id);
      const attempt = (attemptsById.get(id) ?? 0) + 1;
      attemptsById.set(id, attempt);
      void injectDelay("slow peer", 2).then(() => {
        inProgressIds.delete(id);
        // Every third delivery fails at first.
        respondWithStatus(attempt === 1 && attemptsById.size % 3 === 0 ? 500 : 200)(res);
      });
    });
    const limits = { WEBHOOK_CONCURRENCY: "16", WEBHOOK_ENDPOINT_CONCURRENCY: "4" };
    await Promise.all([1, 2, 3].map(() => rig.startAnother(limits)));
    const eventCount = 40;
    await Promise.all(Array.from({ length: eventCount }, () => rig.publishCompleted(person)));
    const total = eventCount * 5;
    await waitUntil("every delivery was tried", () => attemptsById.size === total);
    await waitUntil("the first attempts have ended", async () => {
      const areAllTried = (await countDeliveries()).every(({ attempts }) => attempts === 1);
      return areAllTried && (await countLeased()) === 0;
    });
    rig.clock.advance(31_000);
    await waitUntil("all webhooks are delivered", isAllDelivered(total));

    expect(duplicateCount).toBe(0);
    const counts = await countDeliveries();
    const failedFirst = counts.find(({ attempts }) => attempts === 2)?.count ?? 0;
    expect(failedFirst).toBeGreaterThan(0);
    expect(counts).toEqual([
      { status: "Delivered", attempts: 1, count: total - failedFirst },
      { status: "Delivered", attempts: 2, count: failedFirst },
    ]);
    expect(receiver.received).toHaveLength(total + failedFirst);
  });

  test("limit a hanging receiver to its own slots, without affecting other receivers", async () => {
    const heldResponses: (() => void)[] = [];
    receiver.respondWith((res, { path }) => {
      if (path === "/hanging") heldResponses.push(() => respondWithStatus(200)(res));
      else respondWithStatus(200)(res);
    });
    const slowUser = rig.signIn();
    const quickUser = rig.signIn();
    await rig.register(slowUser, "/hanging");
    await rig.register(quickUser, "/quick");
    // Everything is queued before the first claim, so that each claim is full.
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "60" });
    await Promise.all(Array.from({ length: 20 }, () => rig.publishCompleted(slowUser)));
    await Promise.all(Array.from({ length: 20 }, () => rig.publishCompleted(quickUser)));
    await service.stop();
    rig.clock.advance(60_000);
    await rig.startAnother({ WEBHOOK_CONCURRENCY: "8", WEBHOOK_ENDPOINT_CONCURRENCY: "3" });
    const quickCount = () => receiver.received.filter(({ path }) => path === "/quick").length;
    await waitUntil("the quick receiver has its twenty webhooks", () => quickCount() === 20);
    expect(heldResponses).toHaveLength(3);
    const releaseTimer = setInterval(() => heldResponses.splice(0).forEach((end) => end()), 5);
    await waitUntil("the hanging receiver gets the rest", isAllDelivered(40));
    clearInterval(releaseTimer);
  });
});

describe("a dispatcher that dies during an attempt", () => {
  test("leaves an interrupted attempt when its lease expires, and the schedule continues (rules KEEP-8 and HOOK-15)", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    // Recreates the row that a killed process leaves behind: leased, without a result.
    receiver.respondWith(respondWithStatus(500));
    await rig.service.start();
    await rig.publishCompleted(person);
    await waitUntil(
      "the first attempt has ended",
      async () => (await readNewestEntry(person, endpoint))?.["httpStatus"] === 500,
    );
    const leaseUntil = new Date(rig.clock.now().getTime() + leaseMs);
    const voidRow = sql.type(z.object({}).strict());
    await rig.pool.query(voidRow`
      UPDATE deliveries SET attempts = 2, next_attempt_at = NULL, http_status = NULL, error = NULL,
        lease_until = ${sql.timestamp(leaseUntil)}, last_attempt_at = ${sql.timestamp(rig.clock.now())}
    `);
    receiver.respondWith(respondWithStatus(200));
    rig.clock.advance(leaseMs - 1);
    const receivedBefore = receiver.received.length;
    const probeUser = rig.signIn();
    const probeEndpoint = await rig.register(probeUser);
    await rig.publishCompleted(probeUser);
    await waitUntil(
      "the queue was polled",
      async () => (await readNewestEntry(probeUser, probeEndpoint))?.["status"] === "Delivered",
    );
    expect(receiver.received).toHaveLength(receivedBefore + 1);
    expect(await readNewestEntry(person, endpoint)).toMatchObject({
      status: "Pending",
      attempts: 2,
      error: null,
    });

    // Leases are checked once a second, counted from the end of the previous check. A check may
    // have been in progress when the clock moved, so the clock advances until the next one.
    const interruptedEntry = await waitUntil("the lease has expired", async () => {
      rig.clock.advance(100);
      const entry = await readNewestEntry(person, endpoint);
      return entry?.["error"] === "interrupted" && entry;
    });
    // The third attempt is due five minutes after the second one ended, which is when its lease
    // expired.
    expect(interruptedEntry).toMatchObject({
      status: "Pending",
      attempts: 2,
      httpStatus: null,
      nextAttemptAt: new Date(leaseUntil.getTime() + 300_000).toISOString(),
    });
    expect((await rig.call(person, "GET", endpointsPath)).json.data).toMatchObject([
      { lastOutcome: "Failed", consecutiveFailures: 2 },
    ]);
    rig.clock.advance(299_001);
    await waitUntil(
      "the webhook is delivered",
      async () => (await readNewestEntry(person, endpoint))?.["status"] === "Delivered",
    );
    expect(await readNewestEntry(person, endpoint)).toMatchObject({ attempts: 3 });
  });

  test("leaves a failed delivery if that was the sixth attempt", async () => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    await rig.publishCompleted(person);
    await service.stop();
    const voidRow = sql.type(z.object({}).strict());
    await rig.pool.query(voidRow`
      UPDATE deliveries SET attempts = 6, next_attempt_at = NULL,
        lease_until = ${sql.timestamp(rig.clock.now())}
    `);
    await rig.service.start();
    await waitUntil(
      "the delivery has failed",
      async () => (await readNewestEntry(person, endpoint))?.["status"] === "Failed",
    );
    expect(await readNewestEntry(person, endpoint)).toMatchObject({
      attempts: 6,
      error: "interrupted",
      nextAttemptAt: null,
    });
    expect(receiver.received).toEqual([]);
  });
});

describe("stopping", () => {
  /** Starts a dispatcher with one of two deliveries in progress until the test responds. */
  const startWithHeldAttempt = async () => {
    const person = rig.signIn();
    await rig.register(person);
    const sendResponses: (() => void)[] = [];
    receiver.respondWith((res) => void sendResponses.push(() => respondWithStatus(200)(res)));
    const { service } = await rig.startAnother({ WEBHOOK_CONCURRENCY: "1" });
    await rig.publishCompleted(person);
    await rig.publishCompleted(person);
    await waitUntil("an attempt is in progress", () => sendResponses.length === 1);
    return { sendResponses, service };
  };

  test("finishes the attempt in progress and does not claim another, so that no lease remains (rule KEEP-8)", async () => {
    const { sendResponses, service } = await startWithHeldAttempt();
    const stopping = service.stop();
    sendResponses[0]?.();
    await stopping;
    expect(sendResponses).toHaveLength(1);
    expect(await countDeliveries()).toEqual([
      { status: "Delivered", attempts: 1, count: 1 },
      { status: "Pending", attempts: 0, count: 1 },
    ]);
    expect(await countLeased()).toBe(0);
  });

  test("does not start an attempt after `drain`, while the process still serves requests", async () => {
    const { sendResponses, service } = await startWithHeldAttempt();
    service.drain?.();
    sendResponses[0]?.();
    await waitUntil("the result is stored", async () => {
      const counts = await countDeliveries();
      return counts.some(({ status }) => status === "Delivered");
    });
    expect(await countDeliveries()).toEqual([
      { status: "Delivered", attempts: 1, count: 1 },
      { status: "Pending", attempts: 0, count: 1 },
    ]);
    await service.stop();
    expect(sendResponses).toHaveLength(1);
  });
});

describe("an attempt in progress when its endpoint", () => {
  test.each([
    ["disabled", 200, { status: "Delivered", error: null, httpStatus: 200 }],
    ["disabled", 500, { status: "Failed", error: "endpoint disabled", httpStatus: 500 }],
    ["deleted", 200, { status: "Delivered", error: null, httpStatus: 200 }],
    ["deleted", 500, { status: "Failed", error: "endpoint deleted", httpStatus: 500 }],
  ])(
    "is %s ends with its %i as the final result, and the queue is abandoned (rule HOOK-6)",
    async (action, status, expectedEntry) => {
      const person = rig.signIn();
      const endpoint = await rig.register(person);
      const sendResponses: (() => void)[] = [];
      receiver.respondWith((res) => void sendResponses.push(() => respondWithStatus(status)(res)));
      await rig.startAnother({ WEBHOOK_CONCURRENCY: "1" });
      await rig.publishCompleted(person);
      await waitUntil("an attempt is in progress", () => sendResponses.length === 1);
      rig.clock.advance(1);
      await rig.publishCompleted(person);
      if (action === "deleted") await rig.call(person, "DELETE", endpoint.path);
      else await rig.call(person, "PATCH", endpoint.path, { enabled: false });
      if (action === "disabled") await rig.call(person, "PATCH", endpoint.path, { enabled: true });
      const readEntries = () => rig.readLog(person, endpoint);
      const abandonedEntry = {
        status: "Failed",
        error: `endpoint ${action}`,
        attempts: 0,
        nextAttemptAt: null,
      };
      expect(await readEntries()).toMatchObject([
        abandonedEntry,
        { status: "Pending", attempts: 1 },
      ]);
      sendResponses[0]?.();
      await waitUntil(
        "the attempt has ended",
        async () => (await readEntries())[1]?.["status"] !== "Pending",
      );
      expect((await readEntries())[1]).toMatchObject({ ...expectedEntry, nextAttemptAt: null });
      rig.clock.advance(48 * 3_600_000);
      const probeUser = rig.signIn();
      receiver.respondWith(respondWithStatus(200));
      const probeEndpoint = await rig.register(probeUser, "/witness");
      await rig.publishCompleted(probeUser);
      await waitUntil(
        "the queue was polled",
        async () => (await readNewestEntry(probeUser, probeEndpoint))?.["status"] === "Delivered",
      );
      expect(receiver.received.filter(({ path }) => path === "/hook")).toHaveLength(1);
    },
  );
});

describe("several secret keys", () => {
  test("the first key encrypts, older keys still decrypt, and a missing key prevents the start (rule OPS-6)", async () => {
    const secondKey = `second=${Buffer.alloc(32, 9).toString("base64")}`;
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const firstKey = `first=${Buffer.alloc(32, 7).toString("base64")}`;
    await expect(rig.startAnother({ WEBHOOK_SECRET_KEYS: secondKey })).rejects.toThrow(
      /WEBHOOK_SECRET_KEYS.*first/,
    );
    await rig.startAnother({ WEBHOOK_SECRET_KEYS: `${secondKey},${firstKey}` });
    await rig.publishCompleted(person);
    const [receivedWebhook] = await waitUntil(
      "the webhook arrives",
      () => receiver.received.length > 0 && receiver.received,
    );
    if (receivedWebhook === undefined) throw new Error("no webhook was received");
    expect(receivedWebhook.headers["service-signature"]).toBe(
      expectedSignature(receivedWebhook, endpoint.secret),
    );
  });
});
