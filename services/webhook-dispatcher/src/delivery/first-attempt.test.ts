import { expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { sql } from "slonik";
import * as z from "zod";
import { respondWithStatus } from "../testing/start-receiver.ts";
import { withEndpoint } from "../testing/with-endpoint.ts";

const { rig, person, endpoint, receiver } = withEndpoint();

const CountRow = z.object({ count: z.int() });
const EmptyRow = z.object({});

const countDeliveries = () =>
  rig.pool.oneFirst(sql.type(CountRow)`SELECT count(*)::int AS count FROM deliveries`);

/**
 * Publishes an event and rolls back its transaction after its webhook was received. The event is
 * then applied again.
 */
const rollBackAfterRequest = async (): Promise<void> => {
  const headers = { "x-api-key": rig.createKey(person) };
  const listenersUrl = `${rig.publicUrl}/command/webhook-listeners`;
  expect((await fetch(listenersUrl, { method: "POST", headers })).status).toBe(201);
  await rig.service.start();
  // The event's transaction ends with a lock of the account's listeners.
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const locking = transact(rig.pool, async (tx) => {
    await tx.query(sql.type(EmptyRow)`
      SELECT FROM listeners WHERE user_id = ${person.userId} FOR UPDATE
    `);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const published = rig.publishCompleted(person);
  await waitUntil("the webhook is received", () => receiver.received.length === 1);
  expect(await countDeliveries()).toBe(0);
  await waitUntil("the event waits", async () => (await countLockWaits(rig.pool)) > 0);
  // Ends the event's transaction like a lost connection.
  await rig.pool.query(sql.type(EmptyRow)`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
  `);
  released.resolve();
  await locking;
  await waitUntil("the event is applied", async () => {
    rig.clock.advance(1_000);
    return (await rig.readLog(person, endpoint)).length > 0;
  });
  await published;
};

const waitForDelivered = () =>
  waitUntil("the webhook is delivered", async () => {
    rig.clock.advance(1_000);
    const [entry] = await rig.readLog(person, endpoint);
    return entry?.["status"] === "Delivered" && entry;
  });

test("the first attempt does not wait for the commit, and is not repeated after a rollback (rule HOOK-15)", async () => {
  await rollBackAfterRequest();
  expect(await waitForDelivered()).toMatchObject({ attempts: 1, httpStatus: 200 });
  expect(receiver.received).toHaveLength(1);
  expect(await countDeliveries()).toBe(0);
});

test("a failed attempt that was rolled back counts once, and its retry is sent (rule HOOK-14)", async () => {
  receiver.respondWith((res) => respondWithStatus(receiver.received.length === 1 ? 500 : 200)(res));
  await rollBackAfterRequest();
  expect(await waitForDelivered()).toMatchObject({ attempts: 2, httpStatus: 200 });
  expect(receiver.received).toHaveLength(2);
});
