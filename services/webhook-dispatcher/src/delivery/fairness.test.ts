import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Db } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, answer, openReceiver } from "../testing/open-receiver.ts";
import { type Person, type RegisteredEndpoint, type Rig, openRig } from "../testing/open-rig.ts";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { lockEndpoints } from "../store/endpoints.ts";

let receiver: Receiver;
let rig: Rig;
/** Attempts that hang until they are let go, by path. */
let held: { path: string | undefined; end: () => void }[];
beforeEach(async () => {
  held = [];
  receiver = await openReceiver();
  receiver.respondWith((res, { path }) => {
    if (path?.startsWith("/hanging")) held.push({ path, end: () => answer(200)(res) });
    else answer(200)(res);
  });
  const { origin } = receiver;
  rig = await openRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${origin},other.test=${origin}` },
  });
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

/** Queues events of those people before anything is claimed, then starts with those bounds. */
const startWithQueue = async (people: readonly Person[], bounds: Record<string, string>) => {
  const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "60" });
  for (const person of people) {
    await Promise.all(Array.from({ length: 5 }, () => rig.tellCompleted(person)));
  }
  await service.stop();
  rig.clock.advance(60_000);
  await rig.startAnother(bounds);
};

/**
 * Ends once a webhook published now has arrived: by then every claim that could be made was made.
 */
const untilOthersGet = async (path: string) => {
  const witness = rig.signIn();
  await rig.register(witness, path);
  await rig.tellCompleted(witness);
  const name = new URL(path, "https://receiver.test").pathname;
  await waitUntil("the others get theirs", () =>
    receiver.received.some((one) => one.path === name),
  );
};

const endHeld = async (total: number) => {
  const release = setInterval(() => held.splice(0).forEach(({ end }) => end()), 5);
  await waitUntil("all arrive in the end", () => receiver.received.length === total);
  clearInterval(release);
};

describe("a process holds at most its bound of attempts", () => {
  test("per account: one whose endpoints all hang leaves the rest to others", async () => {
    const slow = rig.signIn();
    await Promise.all([1, 2, 3].map((at) => rig.register(slow, `/hanging/${at}`)));
    await startWithQueue([slow], { WEBHOOK_ACCOUNT_CONCURRENCY: "4" });
    await waitUntil("its slots are taken", () => held.length >= 4);
    await untilOthersGet("/quick");
    expect(held).toHaveLength(4);
    expect(new Set(held.map(({ path }) => path)).size).toBe(3);
    await endHeld(15 + 1);
  });

  test("per origin: a host where many accounts point gets no more than that", async () => {
    const people = [1, 2, 3].map(() => rig.signIn());
    for (const person of people) await rig.register(person, "/hanging");
    await startWithQueue(people, { WEBHOOK_ORIGIN_CONCURRENCY: "4" });
    await waitUntil("its slots are taken", () => held.length >= 4);
    await untilOthersGet("https://other.test/quick");
    expect(held).toHaveLength(4);
    await endHeld(15 + 1);
  });
});

describe("an endpoint with a long queue that is being disabled", () => {
  const isDelivered = (person: Person, endpoint: RegisteredEndpoint) => async () =>
    (await rig.readLog(person, endpoint))[0]?.["status"] === "Delivered";

  test("holds up its own results, which count later, and nobody else's", async () => {
    const slow = rig.signIn();
    const endpoint = await rig.register(slow, "/hanging");
    const other = rig.signIn();
    const quick = await rig.register(other, "/quick");
    await rig.service.start();
    await rig.tellCompleted(slow);
    await waitUntil("an attempt is under way", () => held.length === 1);
    await rig.pool.transaction(async (tx) => {
      const { userId } = slow;
      await lockEndpoints(tx, userId);
      const reason = "endpoint disabled";
      await abandonDeliveries(tx, { userId, endpointId: endpoint.id, reason });
      held[0]?.end();
      await waitUntil("its attempt has ended", async () => {
        const name = "payment_links_webhook_attempts_total";
        const counted = await rig.metrics.getSingleMetricAsString(name);
        return /outcome="delivered".*\} 1/.test(counted);
      });
      await rig.tellCompleted(other);
      await waitUntil("the other's is delivered", isDelivered(other, quick));
    });
    await waitUntil("its own is delivered", isDelivered(slow, endpoint));
  });

  test.each([["disabled"], ["deleted"]])(
    "%s: is rid of it before its account's events are held up",
    async (how) => {
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
      const countIn = (db: Db, table: string) =>
        db.oneFirst(sql.type(z.object({ count: z.int() }))`
          SELECT count(*)::int AS count FROM ${sql.identifier([table])}
          WHERE endpoint_id = ${endpoint.id}
        `);
      const { asked } = await rig.pool.transaction(async (tx) => {
        await lockEndpoints(tx, person.userId);
        const asked =
          how === "disabled"
            ? rig.call(person, "PATCH", endpoint.path, { enabled: false })
            : rig.call(person, "DELETE", endpoint.path);
        await waitUntil(
          "all is abandoned",
          async () => (await countIn(tx, "delivery_log")) === 2_500,
        );
        return { asked };
      });
      expect((await asked).status).toBe(how === "disabled" ? 200 : 204);
      expect(await countIn(rig.pool, "deliveries")).toBe(0);
      const gone = { status: "Failed", error: `endpoint ${how}`, attempts: 0, nextAttemptAt: null };
      expect((await rig.readLog(person, endpoint))[0]).toMatchObject(gone);
    },
  );
});
