import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Db } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, respondWithStatus, startReceiver } from "../testing/start-receiver.ts";
import {
  type Person,
  type RegisteredEndpoint,
  type Rig,
  createRig,
} from "../testing/create-rig.ts";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { lockEndpoints } from "../store/endpoints.ts";

let receiver: Receiver;
let rig: Rig;
/** Requests that hang until the test responds, with their paths. */
let heldRequests: { path: string | undefined; respond: () => void }[];
beforeEach(async () => {
  heldRequests = [];
  receiver = await startReceiver();
  receiver.respondWith((res, { path }) => {
    if (path?.startsWith("/hanging"))
      heldRequests.push({ path, respond: () => respondWithStatus(200)(res) });
    else respondWithStatus(200)(res);
  });
  const { origin } = receiver;
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${origin},other.test=${origin}` },
  });
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

/**
 * Queues events of these accounts before any are claimed, then starts a dispatcher with the limits.
 */
const startWithQueue = async (people: readonly Person[], limits: Record<string, string>) => {
  const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "60" });
  for (const person of people) {
    await Promise.all(Array.from({ length: 5 }, () => rig.publishCompleted(person)));
  }
  await service.stop();
  rig.clock.advance(60_000);
  await rig.startAnother(limits);
};

/**
 * Waits until a webhook that is published now arrives. By then, the dispatcher has claimed
 * everything that it can.
 */
const waitForOtherDelivery = async (path: string) => {
  const probeUser = rig.signIn();
  await rig.register(probeUser, path);
  await rig.publishCompleted(probeUser);
  const name = new URL(path, "https://receiver.test").pathname;
  await waitUntil("the other user's webhook arrives", () =>
    receiver.received.some((request) => request.path === name),
  );
};

const releaseHeld = async (total: number) => {
  const releaseTimer = setInterval(
    () => heldRequests.splice(0).forEach(({ respond }) => respond()),
    5,
  );
  await waitUntil("all webhooks arrive", () => receiver.received.length === total);
  clearInterval(releaseTimer);
};

describe("a process limits its concurrent attempts", () => {
  test("per account, so that one with hanging endpoints leaves slots for others", async () => {
    const slowUser = rig.signIn();
    await Promise.all([1, 2, 3].map((index) => rig.register(slowUser, `/hanging/${index}`)));
    await startWithQueue([slowUser], { WEBHOOK_ACCOUNT_CONCURRENCY: "4" });
    await waitUntil("the account's slots are taken", () => heldRequests.length >= 4);
    await waitForOtherDelivery("/quick");
    expect(heldRequests).toHaveLength(4);
    expect(new Set(heldRequests.map(({ path }) => path)).size).toBe(3);
    await releaseHeld(15 + 1);
  });

  test("per origin, even when many accounts use the same host", async () => {
    const people = [1, 2, 3].map(() => rig.signIn());
    for (const person of people) await rig.register(person, "/hanging");
    await startWithQueue(people, { WEBHOOK_ORIGIN_CONCURRENCY: "4" });
    await waitUntil("the origin's slots are taken", () => heldRequests.length >= 4);
    await waitForOtherDelivery("https://other.test/quick");
    expect(heldRequests).toHaveLength(4);
    await releaseHeld(15 + 1);
  });
});

describe("an endpoint with a long queue", () => {
  const isDelivered = (person: Person, endpoint: RegisteredEndpoint) => async () =>
    (await rig.readLog(person, endpoint))[0]?.["status"] === "Delivered";

  test("delays only its own results while it is being disabled, and they are recorded later", async () => {
    const slowUser = rig.signIn();
    const endpoint = await rig.register(slowUser, "/hanging");
    const otherUser = rig.signIn();
    const quickEndpoint = await rig.register(otherUser, "/quick");
    await rig.service.start();
    await rig.publishCompleted(slowUser);
    await waitUntil("an attempt is in progress", () => heldRequests.length === 1);
    await rig.pool.transaction(async (tx) => {
      const { userId } = slowUser;
      await lockEndpoints(tx, userId);
      const reason = "endpoint disabled";
      await abandonDeliveries(tx, { userId, endpointId: endpoint.id, reason });
      heldRequests[0]?.respond();
      await waitUntil("the attempt has ended", async () => {
        const name = "payment_links_webhook_attempts_total";
        const metric = await rig.metrics.getSingleMetricAsString(name);
        return /outcome="delivered".*\} 1/.test(metric);
      });
      await rig.publishCompleted(otherUser);
      await waitUntil("the other webhook is delivered", isDelivered(otherUser, quickEndpoint));
    });
    await waitUntil("the delayed webhook is delivered", isDelivered(slowUser, endpoint));
  });

  test.each([["disabled"], ["deleted"]])(
    "that is %s loses its queue before its account's events are blocked",
    async (action) => {
      const person = rig.signIn();
      const endpoint = await rig.register(person, "/hanging");
      const now = sql.timestamp(rig.clock.now());
      await rig.pool.query(sql.type(z.object({}).strict())`
        INSERT INTO deliveries
          (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created, next_attempt_at)
        SELECT ${endpoint.id} || n, ${endpoint.id} || n, ${endpoint.id}, 'plink_x',
               'payment_link.completed', ${now}, ${now}, ${now}
        FROM generate_series(1, 2500) AS n
      `);
      const countRows = (db: Db, table: string) =>
        db.oneFirst(sql.type(z.object({ count: z.int() }))`
          SELECT count(*)::int AS count FROM ${sql.identifier([table])}
          WHERE endpoint_id = ${endpoint.id}
        `);
      const { request } = await rig.pool.transaction(async (tx) => {
        await lockEndpoints(tx, person.userId);
        const request =
          action === "disabled"
            ? rig.call(person, "PATCH", endpoint.path, { enabled: false })
            : rig.call(person, "DELETE", endpoint.path);
        await waitUntil(
          "all deliveries are abandoned",
          async () => (await countRows(tx, "delivery_log")) === 2_500,
        );
        return { request };
      });
      expect((await request).status).toBe(action === "disabled" ? 200 : 204);
      expect(await countRows(rig.pool, "deliveries")).toBe(0);
      const abandonedEntry = {
        status: "Failed",
        error: `endpoint ${action}`,
        attempts: 0,
        nextAttemptAt: null,
      };
      expect((await rig.readLog(person, endpoint))[0]).toMatchObject(abandonedEntry);
    },
  );
});
