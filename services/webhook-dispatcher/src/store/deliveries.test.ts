import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { type Person, type RegisteredEndpoint, type Rig, openRig } from "../testing/open-rig.ts";
import { claimDeliveries, insertDeliveries, lockLapsed, recordResults } from "./deliveries.ts";

let rig: Rig;
let person: Person;
beforeAll(async () => {
  rig = await openRig();
  person = rig.signIn();
});
afterAll(() => rig.close());

const leaseMs = 30_000;

const after = (ms: number): Date => new Date(rig.clock.now().getTime() + ms);

/** A delivery that is claimed for its first attempt. */
const claimOne = async (endpoint: RegisteredEndpoint): Promise<string> => {
  const now = rig.clock.now();
  const id = newId("evt");
  await rig.pool.transaction(async (tx) => {
    const event = {
      eventId: newId("evt"),
      linkId: newId("plink"),
      eventType: "payment_link.completed" as const,
      occurredAt: now,
      transaction: null,
      traceparent: null,
      dateCreated: now,
      nextAttemptAt: now,
    };
    await insertDeliveries(tx, event, [{ id, endpointId: endpoint.id }]);
  });
  expect((await claim()).map((claimed) => claimed.id)).toEqual([id]);
  return id;
};

const claim = () =>
  rig.pool.transaction((tx) =>
    claimDeliveries(tx, {
      now: rig.clock.now(),
      leaseUntil: after(leaseMs),
      slots: 10,
      slotsPerEndpoint: 10,
      inFlight: new Map(),
    }),
  );

/** Writes how attempt number `attempts` ended; a failure is tried again at once. */
const end = (id: string, attempts: number, isDelivered: boolean) =>
  rig.pool.transaction((tx) =>
    recordResults(tx, [
      {
        id,
        attempts,
        isDelivered,
        httpStatus: isDelivered ? 200 : null,
        error: isDelivered ? null : `attempt ${attempts}`,
        nextAttemptAt: isDelivered ? null : rig.clock.now(),
      },
    ]),
  );

/** What another process does once the lease is over: attempt 1 is called interrupted. */
const lapse = async (id: string) => {
  rig.clock.advance(leaseMs);
  const lapsed = await rig.pool.transaction((tx) =>
    lockLapsed(tx, { now: rig.clock.now(), limit: 10 }),
  );
  expect(lapsed.map((one) => one.id)).toEqual([id]);
  await end(id, 1, false);
};

describe("recordResults", () => {
  test("a failure told after its lease was over changes nothing; a 2xx counts still", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const id = await claimOne(endpoint);
    await lapse(id);
    const [lapsed] = await rig.readLog(person, endpoint);
    rig.clock.advance(1_000);
    await end(id, 1, false);
    expect((await rig.readLog(person, endpoint))[0]).toEqual(lapsed);
    await end(id, 1, true);
    const delivered = { status: "Delivered", httpStatus: 200, error: null, nextAttemptAt: null };
    expect((await rig.readLog(person, endpoint))[0]).toMatchObject(delivered);
    expect(await claim()).toEqual([]);
  });

  test("whatever is told of an attempt after the next has begun changes nothing", async () => {
    const endpoint = await rig.register(person, "https://shop.com/");
    const id = await claimOne(endpoint);
    await lapse(id);
    expect(await claim()).toMatchObject([{ id, attempts: 2 }]);
    const [second] = await rig.readLog(person, endpoint);
    await end(id, 1, true);
    await end(id, 1, false);
    expect((await rig.readLog(person, endpoint))[0]).toEqual(second);
    await end(id, 2, true);
    expect((await rig.readLog(person, endpoint))[0]).toMatchObject({ status: "Delivered" });
  });
});
