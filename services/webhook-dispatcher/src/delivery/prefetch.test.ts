import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import { linkCompleted, newId } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { type Receiver, respondWithStatus, startReceiver } from "../testing/start-receiver.ts";
import {
  type Person,
  type RegisteredEndpoint,
  type Rig,
  createRig,
} from "../testing/create-rig.ts";
import { sampleLink } from "../testing/samples.ts";

let receiver: Receiver;
let rig: Rig;
let person: Person;
let endpoint: RegisteredEndpoint;
/** Sends the responses of hanging attempts. */
let heldResponses: (() => void)[];
beforeEach(async () => {
  heldResponses = [];
  receiver = await startReceiver();
  rig = await createRig({
    environment: {
      WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}`,
      WEBHOOK_ENDPOINT_CONCURRENCY: "1",
    },
  });
  person = rig.signIn();
  endpoint = await rig.register(person);
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

const Row = z.object({ attempts: z.int(), isLeased: z.boolean() });
const readRows = () =>
  rig.pool.any(sql.type(Row)`
    SELECT attempts, lease_until IS NOT NULL AS "isLeased" FROM deliveries
    ORDER BY "isLeased" DESC, attempts DESC
  `);

const publishMany = async (count: number, owner = person) => {
  for (let index = 0; index < count; index += 1) await rig.publishCompleted(owner);
};

const waitForDelivered = (count: number, owner = person, ofEndpoint = endpoint) =>
  waitUntil("the receiver has responded", async () => {
    const log = await rig.readLog(owner, ofEndpoint);
    return log.filter(({ status }) => status === "Delivered").length >= Math.min(count, 10);
  });

const repeat = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value);

/** Locks `deliveries` against writes after the current writers finish. */
const lockDeliveries = () => {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const lockHeld = rig.pool.transaction(async (tx) => {
    await tx.query(sql.unsafe`LOCK TABLE deliveries IN SHARE MODE`);
    locked.resolve();
    await released.promise;
  });
  lockHeld.catch(locked.reject);
  return { locked: locked.promise, release: () => released.resolve() };
};

const CountRow = z.object({ count: z.int() });
/** Waits until this many sessions wait for a lock on `deliveries`. */
const waitForBlockedSessions = (count: number) =>
  waitUntil("sessions wait for a lock", async () => {
    const waitingCount = await rig.pool.oneFirst(sql.type(CountRow)`
      SELECT count(*)::int AS count FROM pg_locks
      WHERE relation = 'deliveries'::regclass AND NOT granted
    `);
    return waitingCount === count;
  });

/** Leaves one attempt hanging and three prefetched, at an endpoint that was fast before. */
const startWithThreePrefetched = async () => {
  await rig.service.start();
  await publishMany(4);
  await waitForDelivered(4);
  receiver.respondWith((res) => void heldResponses.push(() => respondWithStatus(200)(res)));
  await publishMany(4);
  await waitUntil("one attempt is in progress", () => heldResponses.length === 1);
  expect(await readRows()).toEqual(repeat(4, { attempts: 1, isLeased: true }));
};

describe("deliveries to a fast endpoint", () => {
  test("are leased when they are created, and each starts when a slot is free", async () => {
    await startWithThreePrefetched();
    const releaseTimer = setInterval(() => heldResponses.splice(0).forEach((end) => end()), 5);
    await waitForDelivered(8);
    clearInterval(releaseTimer);
    const ids = receiver.received.map(({ body }) => body.id);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
    expect(await rig.readLog(person, endpoint)).toEqual(
      repeat(8, expect.objectContaining({ status: "Delivered", attempts: 1 })),
    );
  });

  test("in one batch are leased only for free slots, and the others wait in the queue", async () => {
    receiver.respondWith((res) => void heldResponses.push(() => respondWithStatus(200)(res)));
    await rig.service.start();
    const occurredAt = rig.clock.now();
    const records = repeat(4, person.userId).map((userId) => {
      const link = sampleLink({ userId });
      const event = createOutgoingEvent(linkCompleted, {
        key: link.id,
        occurredAt,
        data: { link },
      });
      return rig.toKafkaRecord(event, newId("evt"));
    });
    await rig.bus.publish(records);
    await waitUntil("one attempt is in progress", () => heldResponses.length === 1);
    const waitingRow = { attempts: 0, isLeased: false };
    expect(await readRows()).toEqual([
      { attempts: 1, isLeased: true },
      waitingRow,
      waitingRow,
      waitingRow,
    ]);
  });

  test("are released without counting an attempt when the endpoint stops responding, and are sent later", async () => {
    await startWithThreePrefetched();
    rig.clock.advance(750);
    const waitingRow = { attempts: 0, isLeased: false };
    await waitUntil(
      "the three leases are released",
      async () => (await readRows()).filter(({ isLeased }) => !isLeased).length === 3,
    );
    expect(await readRows()).toEqual([
      { attempts: 1, isLeased: true },
      waitingRow,
      waitingRow,
      waitingRow,
    ]);
    const releaseTimer = setInterval(() => heldResponses.splice(0).forEach((end) => end()), 5);
    await waitForDelivered(8);
    clearInterval(releaseTimer);
    expect(receiver.received).toHaveLength(8);
  });

  test("are released without counting an attempt when the process stops", async () => {
    await startWithThreePrefetched();
    const stopping = rig.service.stop();
    heldResponses[0]?.();
    await stopping;
    expect(await readRows()).toEqual(repeat(3, { attempts: 0, isLeased: false }));
    expect(receiver.received).toHaveLength(5);
  });

  test("are released before the stop ends, even if their record commits during the stop", async () => {
    await rig.service.start();
    await publishMany(4);
    await waitForDelivered(4);
    const insertLock = lockDeliveries();
    await insertLock.locked;
    const publishing = publishMany(1);
    await waitForBlockedSessions(1);
    const releaseLock = lockDeliveries();
    await waitForBlockedSessions(2);
    let isStopped = false;
    const stopping = rig.service.stop().then(() => (isStopped = true));
    insertLock.release();
    await releaseLock.locked;
    await waitForBlockedSessions(1);
    expect(await readRows()).toEqual([{ attempts: 1, isLeased: true }]);
    // A stop that does not wait for the release would finish during these queries.
    for (let index = 0; index < 50; index += 1) await readRows();
    expect(isStopped).toBe(false);
    releaseLock.release();
    await stopping;
    await publishing;
    expect(await readRows()).toEqual([{ attempts: 0, isLeased: false }]);
  });

  test.each([
    ["disabled", "PATCH", { enabled: false }],
    ["deleted", "DELETE", undefined],
  ])("are not started after the endpoint is %s", async (action, method, body) => {
    await startWithThreePrefetched();
    await rig.call(person, method, endpoint.path, body);
    heldResponses[0]?.();
    await waitUntil("no delivery is pending", async () => (await readRows()).length === 0);
    const abandonedEntry = { status: "Failed", attempts: 0, error: `endpoint ${action}` };
    const log = await rig.readLog(person, endpoint);
    expect(log.filter(({ status }) => status === "Failed")).toEqual(
      repeat(3, expect.objectContaining(abandonedEntry)),
    );
    expect(receiver.received).toHaveLength(5);
  });
});

describe("prefetched deliveries of two accounts while one endpoint is being disabled", () => {
  const readRowsOf = ({ id }: RegisteredEndpoint) =>
    rig.pool.any(sql.type(Row)`
      SELECT attempts, lease_until IS NOT NULL AS "isLeased" FROM deliveries
      WHERE endpoint_id = ${id} ORDER BY "isLeased" DESC, attempts DESC
    `);
  const leasedRow = { attempts: 1, isLeased: true };
  const waitingRow = { attempts: 0, isLeased: false };
  const abandonedEntry = expect.objectContaining({ attempts: 0, error: "endpoint disabled" });

  /**
   * At each of two endpoints, leaves one attempt hanging and three prefetched. Then starts
   * disabling the second endpoint.
   */
  const startWithThreePrefetchedEach = async () => {
    const otherUser = rig.signIn();
    const otherEndpoint = await rig.register(otherUser, "/theirs");
    await rig.service.start();
    await publishMany(4);
    await publishMany(4, otherUser);
    await waitForDelivered(4);
    await waitForDelivered(4, otherUser, otherEndpoint);
    receiver.respondWith((res) => void heldResponses.push(() => respondWithStatus(200)(res)));
    await publishMany(4);
    await publishMany(4, otherUser);
    await waitUntil("two attempts are in progress", () => heldResponses.length === 2);
    expect(await readRows()).toEqual(repeat(8, leasedRow));
    const locked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const disabling = rig.pool.transaction(async (tx) => {
      const { userId } = otherUser;
      await abandonDeliveries(tx, {
        userId,
        endpointId: otherEndpoint.id,
        reason: "endpoint disabled",
      });
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const disable = async () => {
      released.resolve();
      await disabling;
    };
    const listFailed = async () =>
      (await rig.readLog(otherUser, otherEndpoint)).filter(({ status }) => status === "Failed");
    return { disable, listFailed };
  };

  test("are released immediately for one account, and after the disabling for the other", async () => {
    const { disable, listFailed } = await startWithThreePrefetchedEach();
    rig.clock.advance(750);
    await waitUntil("the three leases are released", async () =>
      (await readRowsOf(endpoint)).some(({ isLeased }) => !isLeased),
    );
    expect(await readRowsOf(endpoint)).toEqual([leasedRow, waitingRow, waitingRow, waitingRow]);
    await disable();
    await waitUntil("the other three deliveries have ended", async () => {
      rig.clock.advance(100);
      return (await listFailed()).length > 0;
    });
    expect(await listFailed()).toEqual(repeat(3, abandonedEntry));
  });

  test("are all released by a stop, no matter how long the disabling takes", async () => {
    const { disable, listFailed } = await startWithThreePrefetchedEach();
    let isStopped = false;
    const stopping = rig.service.stop().then(() => (isStopped = true));
    for (const end of heldResponses) end();
    await waitUntil("the leases of the first account are released", async () => {
      rig.clock.advance(100);
      return (await readRowsOf(endpoint)).every(({ isLeased }) => !isLeased);
    });
    expect(await readRowsOf(endpoint)).toEqual(repeat(3, waitingRow));
    expect(isStopped).toBe(false);
    await disable();
    await waitUntil("the service has stopped", () => {
      rig.clock.advance(100);
      return isStopped;
    });
    await stopping;
    expect(await listFailed()).toEqual(repeat(3, abandonedEntry));
    expect(await readRows()).toEqual(repeat(3, waitingRow));
  });
});

test("deliveries leased by a failed transaction are never sent from memory", async () => {
  await rig.service.start();
  const createCompleted = (overrides: { description?: string } = {}) => {
    const link = sampleLink({ userId: person.userId, ...overrides });
    return createOutgoingEvent(linkCompleted, {
      key: link.id,
      occurredAt: rig.clock.now(),
      data: { link },
    });
  };
  // The second record cannot be stored, so both records are applied again, one by one.
  const validRecord = rig.toKafkaRecord(createCompleted(), newId("evt"));
  const invalidRecord = rig.toKafkaRecord(
    createCompleted({ description: "a\u0000b" }),
    newId("evt"),
  );
  await rig.bus.publish([validRecord, invalidRecord]);
  await waitForDelivered(1);
  expect(await readRows()).toEqual([]);
  expect(receiver.received).toHaveLength(1);
});
