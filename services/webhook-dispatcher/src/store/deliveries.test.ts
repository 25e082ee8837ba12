import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Transaction } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Delivery } from "../domain/attempt.ts";
import { type Person, type RegisteredEndpoint, createRig } from "../testing/create-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { claimDeliveries, insertDeliveries, lockExpiredLeases } from "./deliveries.ts";
import type { LogKey } from "./delivery-log.ts";
import { abandonDeliveries, releaseDeliveries, recordResults } from "./ended-deliveries.ts";

const rig = useRig(createRig);
let person: Person;
beforeEach(() => {
  person = rig.signIn();
});

const leaseMs = 30_000;

const fromNow = (ms: number): Date => new Date(rig.clock.now().getTime() + ms);

/** Creates a due delivery for an event that occurs now. Returns its id. */
const insertDueDelivery = async ({ id: endpointId }: RegisteredEndpoint): Promise<string> => {
  const delivery = sampleDelivery(endpointId, rig.clock.now());
  await rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
  return delivery.id;
};

/** Creates a delivery and claims it for its first attempt. */
const claimNewDelivery = async (endpoint: RegisteredEndpoint): Promise<Delivery> => {
  const id = await insertDueDelivery(endpoint);
  const [claimed] = await claim(endpoint);
  if (claimed?.id !== id) throw new Error("the delivery was not claimed");
  return claimed;
};

const claimInTransaction = (tx: Transaction, { id }: RegisteredEndpoint) =>
  claimDeliveries(tx, {
    now: rig.clock.now(),
    leaseUntil: fromNow(leaseMs),
    shares: [{ endpointId: id, share: 10 }],
  });

const claim = (endpoint: RegisteredEndpoint) =>
  rig.pool.transaction((tx) => claimInTransaction(tx, endpoint));

type EndedResult = { attempts?: number; isDelivered: boolean; isLast?: boolean };

/** Records how an attempt ended. A failure that is not the last is retried immediately. */
const recordResultIn = (
  tx: Transaction,
  delivery: LogKey & { id: string },
  endedResult: EndedResult,
) => {
  const { attempts = 1, isDelivered, isLast = isDelivered } = endedResult;
  const { id, eventId, endpointId, occurredAt } = delivery;
  const result = {
    id,
    eventId,
    endpointId,
    occurredAt,
    attempts,
    startedAt: rig.clock.now(),
    durationMs: 5,
    sentBody: `body ${attempts}`,
    isDelivered,
    httpStatus: isDelivered ? 200 : null,
    error: isDelivered ? null : `attempt ${attempts}`,
    nextAttemptAt: isLast ? null : rig.clock.now(),
  };
  return recordResults(tx, [result]);
};

const recordResult = (delivery: LogKey & { id: string }, endedResult: EndedResult) =>
  rig.pool.transaction((tx) => recordResultIn(tx, delivery, endedResult));

/** Does what another process does when the lease expires: records attempt 1 as interrupted. */
const expireLease = async ({ id }: Delivery, { isLast = false } = {}) => {
  rig.clock.advance(leaseMs);
  const expiredAttempts = await rig.pool.transaction((tx) =>
    lockExpiredLeases(tx, { now: rig.clock.now(), limit: 10 }),
  );
  expect(expiredAttempts.map((expiredAttempt) => expiredAttempt.id)).toEqual([id]);
  for (const expiredAttempt of expiredAttempts)
    await recordResult(expiredAttempt, { isDelivered: false, isLast });
};

const delivered = { status: "Delivered", httpStatus: 200, error: null, nextAttemptAt: null };

/** Returns the number and result of each stored attempt of the endpoint's only delivery. */
const readAttempts = async (endpoint: RegisteredEndpoint) => {
  const [entry] = await rig.readLog(person, endpoint);
  const path = `${endpoint.path}/deliveries/${String(entry?.["id"])}`;
  const { attemptLog } = AttemptsResponse.parse((await rig.call(person, "GET", path)).json);
  return attemptLog.map(({ number, httpStatus, error }) => [number, httpStatus ?? error]);
};
const AttemptsResponse = z.object({
  attemptLog: z.array(
    z.looseObject({
      number: z.int(),
      httpStatus: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
});

/** Returns the stored body of the endpoint's only delivery. */
const readSentBody = async ({ id }: RegisteredEndpoint) =>
  rig.pool.oneFirst(sql.type(z.object({ body: z.string().nullable() }))`
    SELECT sent_body AS body FROM deliveries WHERE endpoint_id = ${id}
    UNION ALL SELECT sent_body FROM delivery_log WHERE endpoint_id = ${id}
  `);

describe("recordResults", () => {
  test("stores the body of the last attempt, also when the delivery ends or is abandoned", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    expect(await readSentBody(endpoint)).toBeNull();
    await recordResult(claimed, { isDelivered: false });
    expect(await readSentBody(endpoint)).toBe("body 1");
    await claim(endpoint);
    await recordResult(claimed, { attempts: 2, isDelivered: true });
    expect(await readSentBody(endpoint)).toBe("body 2");
    const otherEndpoint = await rig.register(person, "https://shop.com/other");
    await recordResult(await claimNewDelivery(otherEndpoint), { isDelivered: false });
    await rig.call(person, "PATCH", otherEndpoint.path, { enabled: false });
    expect(await readSentBody(otherEndpoint)).toBe("body 1");
  });

  test("ignores a failure after the lease expired, but still applies a 2xx (rule HOOK-15)", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await expireLease(claimed);
    const [entryAfterExpiry] = await rig.readLog(person, endpoint);
    rig.clock.advance(1_000);
    await recordResult(claimed, { isDelivered: false });
    expect((await rig.readLog(person, endpoint))[0]).toEqual(entryAfterExpiry);
    await recordResult(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await readAttempts(endpoint)).toEqual([[1, 200]]);
    expect(await claim(endpoint)).toEqual([]);
  });

  test("ignores every result of an attempt after the next one has started", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await expireLease(claimed);
    expect(await claim(endpoint)).toMatchObject([{ id: claimed.id, attempts: 2 }]);
    const [second] = await rig.readLog(person, endpoint);
    await recordResult(claimed, { isDelivered: true });
    await recordResult(claimed, { isDelivered: false });
    expect((await rig.readLog(person, endpoint))[0]).toEqual(second);
    expect(await readAttempts(endpoint)).toEqual([[1, "attempt 1"]]);
    await recordResult(claimed, { attempts: 2, isDelivered: true });
    expect((await rig.readLog(person, endpoint))[0]).toMatchObject({ status: "Delivered" });
    expect(await readAttempts(endpoint)).toEqual([
      [1, "attempt 1"],
      [2, 200],
    ]);
  });

  test("applies a 2xx of the last attempt after its lease expired and the log says failed", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await expireLease(claimed, { isLast: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Failed" }]);
    await recordResult(claimed, { attempts: 2, isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Failed" }]);
    await recordResult(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await readAttempts(endpoint)).toEqual([[1, 200]]);
  });

  test("applies a 2xx of an interrupted attempt even if its delivery was abandoned since", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await expireLease(claimed);
    await rig.call(person, "PATCH", endpoint.path, { enabled: false });
    expect(await readAttempts(endpoint)).toEqual([[1, "attempt 1"]]);
    await recordResult(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await readAttempts(endpoint)).toEqual([[1, 200]]);
  });

  /**
   * Records a result while another transaction is changing its delivery, and again after that
   * transaction's commit.
   */
  const recordDuring = async (
    changeDelivery: (tx: Transaction) => Promise<unknown>,
    delivery: Delivery,
    endedResult: EndedResult,
  ): Promise<void> => {
    await rig.pool.transaction(async (tx) => {
      await changeDelivery(tx);
      expect((await recordResult(delivery, endedResult)).locked.size).toBe(1);
    });
    expect((await recordResult(delivery, endedResult)).locked.size).toBe(0);
  };

  const createAbandon =
    ({ id: endpointId }: RegisteredEndpoint) =>
    (tx: Transaction) =>
      abandonDeliveries(tx, { userId: person.userId, endpointId, reason: "endpoint disabled" });

  test("applies a 2xx recorded while its delivery is being abandoned", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await recordDuring(createAbandon(endpoint), claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await readAttempts(endpoint)).toEqual([[1, 200]]);
  });

  test("ends a delivery with its last failure while it is being abandoned", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await recordDuring(createAbandon(endpoint), claimed, { isDelivered: false, isLast: true });
    const abandonedEntry = { status: "Failed", error: "endpoint disabled", nextAttemptAt: null };
    expect(await rig.readLog(person, endpoint)).toMatchObject([abandonedEntry]);
    expect(await readAttempts(endpoint)).toEqual([[1, "attempt 1"]]);
  });

  test("applies a 2xx recorded while its attempt is being recorded as interrupted", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    rig.clock.advance(leaseMs);
    const expireInTransaction = async (tx: Transaction) => {
      const expiredAttempts = await lockExpiredLeases(tx, { now: rig.clock.now(), limit: 10 });
      for (const expiredAttempt of expiredAttempts)
        await recordResultIn(tx, expiredAttempt, { isDelivered: false });
    };
    await recordDuring(expireInTransaction, claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await readAttempts(endpoint)).toEqual([[1, 200]]);
  });
});

/** Runs work in a transaction and commits only when another session waits for a lock. */
const commitWhenBlocked = async (work: (tx: Transaction) => Promise<unknown>) => {
  let markStarted: (() => void) | undefined;
  const started = new Promise<void>((resolve) => (markStarted = resolve));
  const committed = rig.pool.transaction(async (tx) => {
    await work(tx);
    markStarted?.();
    await waitUntil("another transaction waits", async () => (await countLockWaits(tx)) > 0);
  });
  await started;
  return { committed };
};

describe("insertDeliveries", () => {
  test("creates no second delivery for an event received again while its delivery ends", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const leaseUntil = fromNow(leaseMs);
    const delivery = sampleDelivery(endpoint.id, rig.clock.now(), { leaseUntil });
    const insert = () => rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
    expect(await insert()).toEqual(new Set([delivery.id]));
    const { inserting } = await rig.pool.transaction(async (tx) => {
      await recordResultIn(tx, delivery, { isDelivered: true });
      let isFinished = false;
      const inserting = insert().finally(() => (isFinished = true));
      await waitUntil("the insert has ended or waits for a lock", async () => {
        return isFinished || (await countLockWaits(tx)) > 0;
      });
      return { inserting };
    });
    expect(await inserting).toEqual(new Set());
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
  });
});

describe("releaseDeliveries", () => {
  const releaseLeases = (deliveries: readonly Delivery[], leaseUntil: Date) => {
    const leases = deliveries.map((delivery) => ({ delivery, leaseUntil }));
    return rig.pool.transaction((tx) => releaseDeliveries(tx, leases, rig.clock.now()));
  };

  test("releases unlocked leases and returns those that another transaction has locked", async () => {
    const [freeEndpoint, lockedEndpoint] = [
      await rig.register(person, "https://shop.com/"),
      await rig.register(person, "https://shop.com/other"),
    ];
    const [freeDelivery, lockedDelivery] = [
      await claimNewDelivery(freeEndpoint),
      await claimNewDelivery(lockedEndpoint),
    ];
    const leaseUntil = fromNow(leaseMs);
    await rig.pool.transaction(async (tx) => {
      const { id: endpointId } = lockedEndpoint;
      await abandonDeliveries(tx, { ...person, endpointId, reason: "endpoint disabled" });
      expect(await releaseLeases([freeDelivery, lockedDelivery], leaseUntil)).toEqual([
        { delivery: lockedDelivery, leaseUntil },
      ]);
    });
    expect(await rig.readLog(person, freeEndpoint)).toMatchObject([
      { status: "Pending", attempts: 0 },
    ]);
    expect(await releaseLeases([lockedDelivery], leaseUntil)).toEqual([]);
    const abandonedEntry = { status: "Failed", attempts: 0, error: "endpoint disabled" };
    expect(await rig.readLog(person, lockedEndpoint)).toMatchObject([abandonedEntry]);
  });

  // Guards against two concurrent attempts: a process that did not get the confirmation of a
  // release tries again.
  test("ignores an attempt that was leased again under the same number", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimedDelivery = await claimNewDelivery(endpoint);
    const leaseUntil = fromNow(leaseMs);
    expect(await releaseLeases([claimedDelivery], leaseUntil)).toEqual([]);
    rig.clock.advance(1);
    expect(await claim(endpoint)).toEqual([claimedDelivery]);
    expect(await releaseLeases([claimedDelivery], leaseUntil)).toEqual([]);
    expect(await claim(endpoint)).toEqual([]);
  });
});

describe("abandonDeliveries", () => {
  const disable = (endpoint: RegisteredEndpoint) =>
    rig.call(person, "PATCH", endpoint.path, { enabled: false });
  const readAbandonReasons = ({ id }: RegisteredEndpoint) =>
    rig.pool.anyFirst(sql.type(z.object({ reason: z.string().nullable() }))`
      SELECT abandoned_as AS reason FROM deliveries WHERE endpoint_id = ${id}
    `);

  test("includes a delivery whose attempt starts at the same moment", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    await insertDueDelivery(endpoint);
    const { committed } = await commitWhenBlocked((tx) => claimInTransaction(tx, endpoint));
    await disable(endpoint);
    await committed;
    expect(await readAbandonReasons(endpoint)).toEqual(["endpoint disabled"]);
  });

  test("includes a delivery whose attempt fails at the same moment", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    const failAttempt = (tx: Transaction) => recordResultIn(tx, claimed, { isDelivered: false });
    const { committed } = await commitWhenBlocked(failAttempt);
    await disable(endpoint);
    await committed;
    expect(await readAbandonReasons(endpoint)).toEqual([]);
    const abandonedEntry = { status: "Failed", error: "endpoint disabled", nextAttemptAt: null };
    expect(await rig.readLog(person, endpoint)).toMatchObject([abandonedEntry]);
    expect(await readAttempts(endpoint)).toEqual([[1, "attempt 1"]]);
  });

  test("keeps an attempt's own error separate from its delivery's", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimNewDelivery(endpoint);
    await disable(endpoint);
    expect(await readAttempts(endpoint)).toEqual([]);
    await recordResult(claimed, { isDelivered: false });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ error: "endpoint disabled" }]);
    expect(await readAttempts(endpoint)).toEqual([[1, "attempt 1"]]);
  });
});
