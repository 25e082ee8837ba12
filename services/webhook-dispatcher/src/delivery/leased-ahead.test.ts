import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { outgoing } from "@payment-links/bus";
import { linkCompleted, newId } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { type Receiver, answer, openReceiver } from "../testing/open-receiver.ts";
import { type Person, type RegisteredEndpoint, type Rig, openRig } from "../testing/open-rig.ts";
import { sampleLink } from "../testing/samples.ts";

let receiver: Receiver;
let rig: Rig;
let person: Person;
let endpoint: RegisteredEndpoint;
/** Attempts that hang until they are let go. */
let held: (() => void)[];
beforeEach(async () => {
  held = [];
  receiver = await openReceiver();
  rig = await openRig({
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
const rows = () =>
  rig.pool.any(sql.type(Row)`
    SELECT attempts, lease_until IS NOT NULL AS "isLeased" FROM deliveries
    ORDER BY "isLeased" DESC, attempts DESC
  `);

const tell = async (count: number, owner = person) => {
  for (let told = 0; told < count; told += 1) await rig.tellCompleted(owner);
};

const answered = (count: number, owner = person, at = endpoint) =>
  waitUntil("the receiver has answered", async () => {
    const log = await rig.readLog(owner, at);
    return log.filter(({ status }) => status === "Delivered").length >= Math.min(count, 10);
  });

const times = <Thing>(count: number, thing: Thing): Thing[] =>
  Array.from({ length: count }, () => thing);

/** Keeps everybody from writing deliveries, once those who do it now have ended. */
const holdDeliveries = () => {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const held = rig.pool.transaction(async (tx) => {
    await tx.query(sql.unsafe`LOCK TABLE deliveries IN SHARE MODE`);
    begun.resolve();
    await released.promise;
  });
  held.catch(begun.reject);
  return { begun: begun.promise, release: () => released.resolve() };
};

const CountRow = z.object({ count: z.int() });
/** Waits until so many sessions wait for the deliveries. */
const blocked = (count: number) =>
  waitUntil("sessions wait", async () => {
    const waiting = await rig.pool.oneFirst(sql.type(CountRow)`
      SELECT count(*)::int AS count FROM pg_locks
      WHERE relation = 'deliveries'::regclass AND NOT granted
    `);
    return waiting === count;
  });

/** One attempt hangs and three are leased behind it, at an endpoint that was quick until now. */
const startWithThreeAhead = async () => {
  await rig.service.start();
  await tell(4);
  await answered(4);
  receiver.respondWith((res) => void held.push(() => answer(200)(res)));
  await tell(4);
  await waitUntil("one attempt is under way", () => held.length === 1);
  expect(await rows()).toEqual(times(4, { attempts: 1, isLeased: true }));
};

describe("deliveries of which an endpoint takes many", () => {
  test("are leased as they are opened, and each is begun when a slot is free", async () => {
    await startWithThreeAhead();
    const release = setInterval(() => held.splice(0).forEach((end) => end()), 5);
    await answered(8);
    clearInterval(release);
    const ids = receiver.received.map(({ body }) => body.id);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
    expect(await rig.readLog(person, endpoint)).toEqual(
      times(8, expect.objectContaining({ status: "Delivered", attempts: 1 })),
    );
  });

  test("that come together are leased for a free slot each, and the others wait", async () => {
    receiver.respondWith((res) => void held.push(() => answer(200)(res)));
    await rig.service.start();
    const occurredAt = rig.clock.now();
    const records = times(4, person.userId).map((userId) => {
      const link = sampleLink({ userId });
      const event = outgoing(linkCompleted, { key: link.id, occurredAt, data: { link } });
      return rig.recordOf(event, newId("evt"));
    });
    await rig.bus.publish(records);
    await waitUntil("one attempt is under way", () => held.length === 1);
    const waiting = { attempts: 0, isLeased: false };
    expect(await rows()).toEqual([{ attempts: 1, isLeased: true }, waiting, waiting, waiting]);
  });

  test("are given back uncounted when the endpoint falls silent, and come later", async () => {
    await startWithThreeAhead();
    rig.clock.advance(750);
    const waiting = { attempts: 0, isLeased: false };
    await waitUntil(
      "the three are given back",
      async () => (await rows()).filter(({ isLeased }) => !isLeased).length === 3,
    );
    expect(await rows()).toEqual([{ attempts: 1, isLeased: true }, waiting, waiting, waiting]);
    const release = setInterval(() => held.splice(0).forEach((end) => end()), 5);
    await answered(8);
    clearInterval(release);
    expect(receiver.received).toHaveLength(8);
  });

  test("are given back uncounted when the process stops", async () => {
    await startWithThreeAhead();
    const stopping = rig.service.stop();
    held[0]?.();
    await stopping;
    expect(await rows()).toEqual(times(3, { attempts: 0, isLeased: false }));
    expect(receiver.received).toHaveLength(5);
  });

  test("are given back before the stop ends, also if their record commits while it stops", async () => {
    await rig.service.start();
    await tell(4);
    await answered(4);
    const opening = holdDeliveries();
    await opening.begun;
    const telling = tell(1);
    await blocked(1);
    const givingBack = holdDeliveries();
    await blocked(2);
    let isStopped = false;
    const stopping = rig.service.stop().then(() => (isStopped = true));
    opening.release();
    await givingBack.begun;
    await blocked(1);
    expect(await rows()).toEqual([{ attempts: 1, isLeased: true }]);
    // Other sessions go on meanwhile, and so would a stop that does not wait.
    for (let asked = 0; asked < 50; asked += 1) await rows();
    expect(isStopped).toBe(false);
    givingBack.release();
    await stopping;
    await telling;
    expect(await rows()).toEqual([{ attempts: 0, isLeased: false }]);
  });

  test.each([
    ["disabled", "PATCH", { enabled: false }],
    ["deleted", "DELETE", undefined],
  ])("are not begun any more once it is %s", async (how, method, body) => {
    await startWithThreeAhead();
    await rig.call(person, method, endpoint.path, body);
    held[0]?.();
    await waitUntil("nothing is open", async () => (await rows()).length === 0);
    const gone = { status: "Failed", attempts: 0, error: `endpoint ${how}` };
    const log = await rig.readLog(person, endpoint);
    expect(log.filter(({ status }) => status === "Failed")).toEqual(
      times(3, expect.objectContaining(gone)),
    );
    expect(receiver.received).toHaveLength(5);
  });
});

describe("deliveries of two accounts, of which one's endpoint is being disabled", () => {
  const rowsAt = ({ id }: RegisteredEndpoint) =>
    rig.pool.any(sql.type(Row)`
      SELECT attempts, lease_until IS NOT NULL AS "isLeased" FROM deliveries
      WHERE endpoint_id = ${id} ORDER BY "isLeased" DESC, attempts DESC
    `);
  const leased = { attempts: 1, isLeased: true };
  const waiting = { attempts: 0, isLeased: false };
  const abandoned = expect.objectContaining({ attempts: 0, error: "endpoint disabled" });

  /** At each of two endpoints one attempt hangs and three are leased behind it; the other's is being disabled. */
  const startWithThreeAheadOfEach = async () => {
    const other = rig.signIn();
    const theirs = await rig.register(other, "/theirs");
    await rig.service.start();
    await tell(4);
    await tell(4, other);
    await answered(4);
    await answered(4, other, theirs);
    receiver.respondWith((res) => void held.push(() => answer(200)(res)));
    await tell(4);
    await tell(4, other);
    await waitUntil("two attempts are under way", () => held.length === 2);
    expect(await rows()).toEqual(times(8, leased));
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const disabled = rig.pool.transaction(async (tx) => {
      const { userId } = other;
      await abandonDeliveries(tx, { userId, endpointId: theirs.id, reason: "endpoint disabled" });
      begun.resolve();
      await released.promise;
    });
    await begun.promise;
    const disable = async () => {
      released.resolve();
      await disabled;
    };
    const failed = async () =>
      (await rig.readLog(other, theirs)).filter(({ status }) => status === "Failed");
    return { disable, failed };
  };

  test("are given back to one at once, and to the other once it is disabled", async () => {
    const { disable, failed } = await startWithThreeAheadOfEach();
    rig.clock.advance(750);
    await waitUntil("the three are given back", async () =>
      (await rowsAt(endpoint)).some(({ isLeased }) => !isLeased),
    );
    expect(await rowsAt(endpoint)).toEqual([leased, waiting, waiting, waiting]);
    await disable();
    await waitUntil("the other three are over", async () => {
      rig.clock.advance(100);
      return (await failed()).length > 0;
    });
    expect(await failed()).toEqual(times(3, abandoned));
  });

  test("are all given back by a stop, however long the disabling takes", async () => {
    const { disable, failed } = await startWithThreeAheadOfEach();
    let isStopped = false;
    const stopping = rig.service.stop().then(() => (isStopped = true));
    for (const end of held) end();
    await waitUntil("the one's are given back", async () => {
      rig.clock.advance(100);
      return (await rowsAt(endpoint)).every(({ isLeased }) => !isLeased);
    });
    expect(await rowsAt(endpoint)).toEqual(times(3, waiting));
    expect(isStopped).toBe(false);
    await disable();
    await waitUntil("it has stopped", () => {
      rig.clock.advance(100);
      return isStopped;
    });
    await stopping;
    expect(await failed()).toEqual(times(3, abandoned));
    expect(await rows()).toEqual(times(3, waiting));
  });
});

test("what a transaction that failed had leased is never sent from memory", async () => {
  await rig.service.start();
  const completed = (change: { description?: string } = {}) => {
    const link = sampleLink({ userId: person.userId, ...change });
    return outgoing(linkCompleted, { key: link.id, occurredAt: rig.clock.now(), data: { link } });
  };
  // The second record cannot be stored, so that both are applied again, one by one.
  const good = rig.recordOf(completed(), newId("evt"));
  const bad = rig.recordOf(completed({ description: "a\u0000b" }), newId("evt"));
  await rig.bus.publish([good, bad]);
  await answered(1);
  expect(await rows()).toEqual([]);
  expect(receiver.received).toHaveLength(1);
});
