import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { outgoing } from "@payment-links/bus";
import { linkTransactionSucceeded } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { answer, openReceiver } from "../testing/open-receiver.ts";
import { type Person, type RegisteredEndpoint, type Rig, openRig } from "../testing/open-rig.ts";
import { sampleLink, sampleTransaction } from "../testing/samples.ts";

const succeeded = "payment_link.transaction.succeeded";
const completed = "payment_link.completed";

const receiver = useRig(openReceiver);
let rig: Rig;
let person: Person;
let endpoint: RegisteredEndpoint;
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.respondWith(answer(200));
  const overrides = `receiver.test=${receiver.origin}`;
  rig = await openRig({ environment: { WEBHOOK_HOST_OVERRIDES: overrides } });
  person = rig.signIn();
  endpoint = await rig.register(person);
});
afterEach(() => rig.close());

const get = (path: string, as = person) => rig.call(as, "GET", path);

/** Tells of a payment of that person's link; answers the link and the payment. */
const tellPayment = async (link = sampleLink({ userId: person.userId })) => {
  const transaction = sampleTransaction();
  const data = { link, transaction };
  const occurredAt = rig.clock.now();
  await rig.tell(outgoing(linkTransactionSucceeded, { key: link.id, occurredAt, data }));
  rig.clock.advance(1);
  return { linkId: link.id, paymentId: transaction.id };
};

/** What of the log answers to a query, once nothing of it is under way. */
const logOf = (query = "") =>
  waitUntil("nothing is under way", async () => {
    const { data } = (await get(`${endpoint.path}/deliveries`)).json;
    const isUnderWay = data.some(
      ({ status, nextAttemptAt }) => status === "Pending" && nextAttemptAt === null,
    );
    return !isUnderWay && (await get(`${endpoint.path}/deliveries?${query}`)).json.data;
  });

describe("a delivery", () => {
  test("tells its link and its payment, while it waits and when it is over", async () => {
    receiver.respondWith(answer(500));
    await rig.service.start();
    const { linkId, paymentId } = await tellPayment();
    expect(await logOf()).toMatchObject([{ status: "Pending", linkId, paymentId }]);
    receiver.respondWith(answer(200));
    rig.clock.advance(31_000);
    await waitUntil("it is over", async () => (await logOf("status=Delivered")).length === 1);
    expect(await logOf()).toMatchObject([{ status: "Delivered", linkId, paymentId }]);
  });

  test("of a completed link tells no payment", async () => {
    await rig.service.start();
    const link = sampleLink({ userId: person.userId });
    await rig.tellCompleted(person, link);
    expect(await logOf()).toMatchObject([{ linkId: link.id, paymentId: null }]);
  });
});

describe("the log's filters", () => {
  test("by status and by type leave out the rest, alone, together and page by page", async () => {
    receiver.respondWith((res, { body }) => answer(body.type === completed ? 200 : 500)(res));
    await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "0" });
    for (let index = 0; index < 12; index += 1) {
      await tellPayment();
      await rig.tellCompleted(person);
    }
    await waitUntil("all are over", () => receiver.received.length === 24);
    await logOf();
    const kindsOf = async (query: string) => {
      const kinds: string[] = [];
      for (let offset: unknown = 0; typeof offset === "number";) {
        const { json } = await get(`${endpoint.path}/deliveries?${query}&offset=${offset}`);
        kinds.push(
          ...json.data.map(({ status, eventType }) => `${String(status)} ${String(eventType)}`),
        );
        offset = json["nextOffset"];
      }
      return kinds;
    };
    const failed = Array(12).fill(`Failed ${succeeded}`);
    const delivered = Array(12).fill(`Delivered ${completed}`);
    expect(await kindsOf("status=Failed")).toEqual(failed);
    expect(await kindsOf("status=Delivered")).toEqual(delivered);
    expect(await kindsOf(`eventType=${succeeded}`)).toEqual(failed);
    expect(await kindsOf(`eventType=${completed}&status=Delivered`)).toEqual(delivered);
    expect(await kindsOf(`eventType=${completed}&status=Failed`)).toEqual([]);
    expect(await kindsOf("status=Pending")).toEqual([]);
    expect(await kindsOf("")).toHaveLength(24);
  });

  test("find what waits", async () => {
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "3600" });
    const { linkId } = await tellPayment();
    await rig.tellCompleted(person);
    await service.stop();
    expect(await logOf("status=Pending")).toHaveLength(2);
    const paid = await logOf(`status=Pending&eventType=${succeeded}`);
    expect(paid).toMatchObject([{ status: "Pending", linkId }]);
    expect(await logOf("status=Delivered")).toEqual([]);
  });

  test("refuse a status and a type that there are not", async () => {
    const { status, codes } = await get(`${endpoint.path}/deliveries?status=Lost&eventType=x`);
    expect([status, codes]).toEqual([422, ["enum", "enum"]]);
  });
});
