import { beforeAll, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import {
  createOutgoingEvent,
  publish,
  type OutgoingEvent,
  type ReceivedRecord,
} from "@payment-links/bus";
import {
  type EventType,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
  newId,
  topics,
} from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { receiveLink } from "./testing/receive-link.ts";
import { createRig } from "./testing/create-rig.ts";
import { readPayments } from "./testing/read-rows.ts";
import { sampleLink, sampleNotice } from "./testing/samples.ts";

const rig = useRig(createRig);
const publishedRecords: ReceivedRecord[] = [];

beforeAll(async () => {
  await rig.bus.subscribe({
    group: "test",
    topics: [topics.settlements],
    handle: async (records) => {
      publishedRecords.push(...records);
      return { handledCount: records.length };
    },
  });
  await rig.service.start();
});

const getPublishedValues = (key: string) =>
  publishedRecords
    .filter((record) => record.key === key)
    .map((record) => JSON.parse(record.value?.toString() ?? "null"));

/**
 * Publishes an event to the service through the service's own outbox, which works because all
 * services share the bus.
 */
const publishEvent = async (event: OutgoingEvent): Promise<void> => {
  await transact(rig.pool, (tx) => publish(tx, [event]));
};

const linkEvents = (link: ReturnType<typeof sampleLink>): [string, OutgoingEvent][] => {
  const envelope = { key: link.id, occurredAt: rig.clock.now() };
  const transaction = {
    id: newId("tx"),
    status: "settled" as const,
    amount: link.toAmount,
    chainId: link.chainId,
    tokenAddress: link.tokenAddress,
    sourceTransaction: null,
    dateCreated: rig.clock.now(),
  };
  const createEntry = (event: EventType, data: unknown): [string, OutgoingEvent] => [
    event.type,
    createOutgoingEvent(event, { ...envelope, data }),
  ];
  return [
    createEntry(linkCreated, { link }),
    createEntry(linkTransactionSucceeded, { link, transaction }),
    createEntry(linkCompleted, { link }),
    createEntry(linkDeactivated, { link }),
    createEntry(linkSnapshot, { link }),
  ];
};

describe("settlement-listener", () => {
  test("publishes a notice that came before its link on settlements.v1 with any first event of the link", async () => {
    for (const eventIndex of [0, 1, 2, 3, 4]) {
      const link = sampleLink();
      const notice = sampleNotice({ paymentLinkId: link.id });
      expect((await rig.sendText(JSON.stringify(notice))).status).toBe(202);
      expect(getPublishedValues(link.id)).toEqual([]);
      const [type, event] = linkEvents(link)[eventIndex] ?? ["", undefined];
      if (event === undefined) throw new Error("the event type is missing");
      await publishEvent(event);
      await waitUntil(`${type} releases the payment`, async () => {
        rig.clock.advance(100);
        return getPublishedValues(link.id).length > 0;
      });
      const [payment] = await readPayments(rig.pool, notice.id);
      expect(getPublishedValues(link.id)).toMatchObject([
        { id: payment?.id, sourceId: notice.id, version: 1 },
      ]);
      const headers = publishedRecords.find((record) => record.key === link.id)?.headers;
      expect(headers).toMatchObject({ ce_type: "settlement.settled" });
    }
  });

  test("publishes a notice of a known link without waiting for a poll", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));
    const notice = sampleNotice({ paymentLinkId: link.id });
    expect((await rig.sendText(JSON.stringify(notice))).status).toBe(202);
    await waitUntil("the event is published", async () => getPublishedValues(link.id).length > 0);
    expect(getPublishedValues(link.id)).toMatchObject([{ sourceId: notice.id }]);
  });

  test("shows operators the backlog, and its age in the metrics", async () => {
    const paymentLinkId = newId("plink");
    const notice = sampleNotice({ paymentLinkId, status: "processing" });
    await rig.sendText(JSON.stringify(notice));
    const firstSeenAt = rig.clock.now().toISOString();
    const status = await fetch(`${rig.internalUrl}/internal/settlement/status`);
    const [payment] = await readPayments(rig.pool, notice.id);
    expect(await status.json()).toEqual({
      providers: ["acme", "other"],
      chains: [],
      parkedCount: 1,
      oldestParkedAt: firstSeenAt,
      processingCount: 1,
      oldestProcessingAt: firstSeenAt,
      parked: [
        {
          id: payment?.id,
          source: "provider:acme",
          sourceId: notice.id,
          paymentLinkId,
          status: "processing",
          firstSeenAt,
        },
      ],
    });
    rig.clock.advance(60_000);
    await waitUntil("the gauges are set", async () => {
      const text = await rig.metrics.metrics();
      return (
        /settlement_parked_payments\{[^}]*\} 1\n/.test(text) &&
        /settlement_oldest_parked_age_seconds\{[^}]*\} 60\n/.test(text)
      );
    });
  });

  test("dead-letters an invalid record, lists it, and can replay it", async () => {
    const key = newId("plink");
    const [record] = publishedRecords;
    if (record === undefined) throw new Error("no earlier test published a record");
    const headers = { ...record.headers, ce_id: newId("evt"), ce_type: linkCreated.type };
    await rig.bus.publish([{ topic: topics.paymentLinks, key, headers, value: '{"link":1}' }]);
    const path = `${rig.internalUrl}/internal/dead-letters/settlement-listener`;
    const listDeadLetters = async () => {
      const response = await fetch(path);
      return ((await response.json()) as { data: { key: string; reason: string; seq: string }[] })
        .data;
    };
    await waitUntil("the record is dead-lettered", async () =>
      (await listDeadLetters()).some((deadLetter) => deadLetter.key === key),
    );
    const replay = await fetch(`${path}/replay`, { method: "POST" });
    expect(await replay.json()).toMatchObject({ replayedCount: 0, failures: [{ key }] });
    const [firstDeadLetter] = await listDeadLetters();
    const nextPage = await fetch(`${path}?afterSeq=${firstDeadLetter?.seq}`);
    expect(await nextPage.json()).toEqual({ data: [], nextAfterSeq: null });
  });

  test("is ready while its tables are reachable", async () => {
    expect(await rig.service.isReady()).toBe(true);
    expect((await fetch(`${rig.internalUrl}/readyz`)).status).toBe(200);
  });
});
