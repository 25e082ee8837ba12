import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Transaction } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Person, type RegisteredEndpoint, openRig } from "../testing/open-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  insertDeliveries,
  lockLapsed,
} from "./deliveries.ts";
import type { LogPlace } from "./delivery-log.ts";
import { abandonDeliveries, giveBackDeliveries, recordResults } from "./ended-deliveries.ts";

const rig = useRig(openRig);
let person: Person;
beforeEach(() => {
  person = rig.signIn();
});

const leaseMs = 30_000;

const after = (ms: number): Date => new Date(rig.clock.now().getTime() + ms);

/** Opens a delivery of an event that occurs now, at the endpoint; answers its id. */
const open = async ({ id: endpointId }: RegisteredEndpoint): Promise<string> => {
  const delivery = sampleDelivery(endpointId, rig.clock.now());
  await rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
  return delivery.id;
};

/** A delivery that is claimed for its first attempt. */
const claimOne = async (endpoint: RegisteredEndpoint): Promise<ClaimedDelivery> => {
  const id = await open(endpoint);
  const [claimed] = await claim(endpoint);
  if (claimed?.id !== id) throw new Error("it was not claimed");
  return claimed;
};

const claimIn = (tx: Transaction, { id }: RegisteredEndpoint) =>
  claimDeliveries(tx, {
    now: rig.clock.now(),
    leaseUntil: after(leaseMs),
    turns: [{ endpointId: id, share: 10 }],
  });

const claim = (endpoint: RegisteredEndpoint) => rig.pool.transaction((tx) => claimIn(tx, endpoint));

type Ended = { attempts?: number; isDelivered: boolean; isLast?: boolean };

/** Writes how an attempt ended; a failure that is not the last is tried again at once. */
const endIn = (tx: Transaction, delivery: LogPlace & { id: string }, ended: Ended) => {
  const { attempts = 1, isDelivered, isLast = isDelivered } = ended;
  const { id, eventId, endpointId, occurredAt } = delivery;
  const result = {
    id,
    eventId,
    endpointId,
    occurredAt,
    attempts,
    startedAt: rig.clock.now(),
    durationMs: 5,
    isDelivered,
    httpStatus: isDelivered ? 200 : null,
    error: isDelivered ? null : `attempt ${attempts}`,
    nextAttemptAt: isLast ? null : rig.clock.now(),
  };
  return recordResults(tx, [result]);
};

const end = (delivery: LogPlace & { id: string }, ended: Ended) =>
  rig.pool.transaction((tx) => endIn(tx, delivery, ended));

/** What another process does once the lease is over: it calls attempt 1 interrupted. */
const lapse = async ({ id }: ClaimedDelivery, { isLast = false } = {}) => {
  rig.clock.advance(leaseMs);
  const lapsed = await rig.pool.transaction((tx) =>
    lockLapsed(tx, { now: rig.clock.now(), limit: 10 }),
  );
  expect(lapsed.map((one) => one.id)).toEqual([id]);
  for (const one of lapsed) await end(one, { isDelivered: false, isLast });
};

const delivered = { status: "Delivered", httpStatus: 200, error: null, nextAttemptAt: null };

/** Of each attempt that is kept of the endpoint's only delivery: its number and how it ended. */
const attemptsOf = async (endpoint: RegisteredEndpoint) => {
  const [entry] = await rig.readLog(person, endpoint);
  const path = `${endpoint.path}/deliveries/${String(entry?.["id"])}`;
  const { attemptLog } = Attempts.parse((await rig.call(person, "GET", path)).json);
  return attemptLog.map(({ number, httpStatus, error }) => [number, httpStatus ?? error]);
};
const Attempts = z.object({
  attemptLog: z.array(
    z.looseObject({
      number: z.int(),
      httpStatus: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
});

describe("recordResults", () => {
  test("a failure told after its lease was over changes nothing; a 2xx counts still (rule HOOK-15)", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await lapse(claimed);
    const [lapsed] = await rig.readLog(person, endpoint);
    rig.clock.advance(1_000);
    await end(claimed, { isDelivered: false });
    expect((await rig.readLog(person, endpoint))[0]).toEqual(lapsed);
    await end(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await attemptsOf(endpoint)).toEqual([[1, 200]]);
    expect(await claim(endpoint)).toEqual([]);
  });

  test("whatever is told of an attempt after the next has begun changes nothing", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await lapse(claimed);
    expect(await claim(endpoint)).toMatchObject([{ id: claimed.id, attempts: 2 }]);
    const [second] = await rig.readLog(person, endpoint);
    await end(claimed, { isDelivered: true });
    await end(claimed, { isDelivered: false });
    expect((await rig.readLog(person, endpoint))[0]).toEqual(second);
    expect(await attemptsOf(endpoint)).toEqual([[1, "attempt 1"]]);
    await end(claimed, { attempts: 2, isDelivered: true });
    expect((await rig.readLog(person, endpoint))[0]).toMatchObject({ status: "Delivered" });
    expect(await attemptsOf(endpoint)).toEqual([
      [1, "attempt 1"],
      [2, 200],
    ]);
  });

  test("a 2xx of the last attempt counts though its lease ran out and the log says failed", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await lapse(claimed, { isLast: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Failed" }]);
    await end(claimed, { attempts: 2, isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Failed" }]);
    await end(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await attemptsOf(endpoint)).toEqual([[1, 200]]);
  });

  test("a 2xx of an attempt that was called interrupted counts, and its delivery abandoned since", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await lapse(claimed);
    await rig.call(person, "PATCH", endpoint.path, { enabled: false });
    expect(await attemptsOf(endpoint)).toEqual([[1, "attempt 1"]]);
    await end(claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await attemptsOf(endpoint)).toEqual([[1, 200]]);
  });

  /** Tells a result while another transaction has changed its delivery, and again after its commit. */
  const endDuring = async (
    change: (tx: Transaction) => Promise<unknown>,
    delivery: ClaimedDelivery,
    ended: Ended,
  ): Promise<void> => {
    await rig.pool.transaction(async (tx) => {
      await change(tx);
      expect((await end(delivery, ended)).held.size).toBe(1);
    });
    expect((await end(delivery, ended)).held.size).toBe(0);
  };

  const abandonIn =
    ({ id: endpointId }: RegisteredEndpoint) =>
    (tx: Transaction) =>
      abandonDeliveries(tx, { userId: person.userId, endpointId, reason: "endpoint disabled" });

  test("a 2xx counts that is told while its delivery is being abandoned", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await endDuring(abandonIn(endpoint), claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await attemptsOf(endpoint)).toEqual([[1, 200]]);
  });

  test("a failure that is the last ends its delivery while that is being abandoned", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await endDuring(abandonIn(endpoint), claimed, { isDelivered: false, isLast: true });
    const gone = { status: "Failed", error: "endpoint disabled", nextAttemptAt: null };
    expect(await rig.readLog(person, endpoint)).toMatchObject([gone]);
    expect(await attemptsOf(endpoint)).toEqual([[1, "attempt 1"]]);
  });

  test("a 2xx counts that is told while its attempt is being called interrupted", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    rig.clock.advance(leaseMs);
    const lapsing = async (tx: Transaction) => {
      const lapsed = await lockLapsed(tx, { now: rig.clock.now(), limit: 10 });
      for (const one of lapsed) await endIn(tx, one, { isDelivered: false });
    };
    await endDuring(lapsing, claimed, { isDelivered: true });
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
    expect(await attemptsOf(endpoint)).toEqual([[1, 200]]);
  });
});

/** Does something in a transaction, and commits only once somebody else waits for a lock. */
const whileAnotherWaits = async (work: (tx: Transaction) => Promise<unknown>) => {
  let begun: (() => void) | undefined;
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const committed = rig.pool.transaction(async (tx) => {
    await work(tx);
    begun?.();
    await waitUntil("another waits", async () => (await countLockWaits(tx)) > 0);
  });
  await isBegun;
  return { committed };
};

describe("insertDeliveries", () => {
  test("opens no event anew that is told again while its delivery ends", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const leaseUntil = after(leaseMs);
    const delivery = sampleDelivery(endpoint.id, rig.clock.now(), { leaseUntil });
    const open = () => rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
    expect(await open()).toEqual(new Set([delivery.id]));
    const { opening } = await rig.pool.transaction(async (tx) => {
      await endIn(tx, delivery, { isDelivered: true });
      let isOver = false;
      const opening = open().finally(() => (isOver = true));
      await waitUntil("it is over, or waits", async () => {
        return isOver || (await countLockWaits(tx)) > 0;
      });
      return { opening };
    });
    expect(await opening).toEqual(new Set());
    expect(await rig.readLog(person, endpoint)).toMatchObject([delivered]);
  });
});

describe("giveBackDeliveries", () => {
  const giveBack = (deliveries: readonly ClaimedDelivery[], leaseUntil: Date) => {
    const leases = deliveries.map((delivery) => ({ delivery, leaseUntil }));
    return rig.pool.transaction((tx) => giveBackDeliveries(tx, leases, rig.clock.now()));
  };

  test("gives back what nobody holds, and answers what somebody else does", async () => {
    const [one, other] = [
      await rig.register(person, "https://shop.com/"),
      await rig.register(person, "https://shop.com/other"),
    ];
    const [free, held] = [await claimOne(one), await claimOne(other)];
    const leaseUntil = after(leaseMs);
    await rig.pool.transaction(async (tx) => {
      const { id: endpointId } = other;
      await abandonDeliveries(tx, { ...person, endpointId, reason: "endpoint disabled" });
      expect(await giveBack([free, held], leaseUntil)).toEqual([{ delivery: held, leaseUntil }]);
    });
    expect(await rig.readLog(person, one)).toMatchObject([{ status: "Pending", attempts: 0 }]);
    expect(await giveBack([held], leaseUntil)).toEqual([]);
    const gone = { status: "Failed", attempts: 0, error: "endpoint disabled" };
    expect(await rig.readLog(person, other)).toMatchObject([gone]);
  });

  // Guards against two attempts at once: whoever did not hear that it had given back tries again.
  test("leaves an attempt that was leased anew under the same number", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const first = await claimOne(endpoint);
    const leaseUntil = after(leaseMs);
    expect(await giveBack([first], leaseUntil)).toEqual([]);
    rig.clock.advance(1);
    expect(await claim(endpoint)).toEqual([first]);
    expect(await giveBack([first], leaseUntil)).toEqual([]);
    expect(await claim(endpoint)).toEqual([]);
  });
});

describe("abandonDeliveries", () => {
  const disable = (endpoint: RegisteredEndpoint) =>
    rig.call(person, "PATCH", endpoint.path, { enabled: false });
  const reasonsOf = ({ id }: RegisteredEndpoint) =>
    rig.pool.anyFirst(sql.type(z.object({ reason: z.string().nullable() }))`
      SELECT abandoned_as AS reason FROM deliveries WHERE endpoint_id = ${id}
    `);

  test("reaches a delivery whose attempt begins in that moment", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    await open(endpoint);
    const { committed } = await whileAnotherWaits((tx) => claimIn(tx, endpoint));
    await disable(endpoint);
    await committed;
    expect(await reasonsOf(endpoint)).toEqual(["endpoint disabled"]);
  });

  test("reaches a delivery whose attempt fails in that moment", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    const failing = (tx: Transaction) => endIn(tx, claimed, { isDelivered: false });
    const { committed } = await whileAnotherWaits(failing);
    await disable(endpoint);
    await committed;
    expect(await reasonsOf(endpoint)).toEqual([]);
    const gone = { status: "Failed", error: "endpoint disabled", nextAttemptAt: null };
    expect(await rig.readLog(person, endpoint)).toMatchObject([gone]);
    expect(await attemptsOf(endpoint)).toEqual([[1, "attempt 1"]]);
  });

  test("leaves to the attempt under way its own error, beside that of its delivery", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const claimed = await claimOne(endpoint);
    await disable(endpoint);
    expect(await attemptsOf(endpoint)).toEqual([]);
    await end(claimed, { isDelivered: false });
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ error: "endpoint disabled" }]);
    expect(await attemptsOf(endpoint)).toEqual([[1, "attempt 1"]]);
  });
});
