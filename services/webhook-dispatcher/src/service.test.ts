import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import { linkCompleted, linkSnapshot } from "@payment-links/contracts";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { startCollectedTracing } from "@payment-links/runtime/testing/collector";
import { type Receiver, startReceiver } from "./testing/start-receiver.ts";
import { type Rig, createRig } from "./testing/create-rig.ts";
import { sampleLink } from "./testing/samples.ts";

let receiver: Receiver;
let rig: Rig;
beforeAll(async () => {
  receiver = await startReceiver();
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
  });
  await rig.service.start();
});
afterAll(async () => {
  await rig.close();
  await receiver.close();
});

const readMetric = async (name: string): Promise<string> =>
  rig.metrics.getSingleMetricAsString(name);

describe("metrics", () => {
  test("count attempts by outcome, and measure the delay of each delivery's first attempt", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await rig.publishCompleted(person);
    await waitUntil("the webhook is delivered", () => receiver.received.length === 1);
    await waitUntil("the attempt is counted", async () =>
      /outcome="delivered".*\} 1/.test(await readMetric("payment_links_webhook_attempts_total")),
    );
    expect(await readMetric("payment_links_webhook_first_attempt_delay_seconds")).toMatch(
      /_count.* 1/,
    );
  });

  test("show the number of waiting deliveries, and how long the oldest has been due", async () => {
    const idleRig = await createRig();
    const person = idleRig.signIn();
    await idleRig.register(person, "https://shop.com/");
    const { service, metrics } = await idleRig.startAnother({
      WEBHOOK_RETRY_SCHEDULE_SECONDS: "60",
    });
    await idleRig.publishCompleted(person);
    await idleRig.publishCompleted(person);
    await service.stop();
    // Reads both metrics together, as a scrape does.
    const readQueueMetrics = async () =>
      (await metrics.metrics()).match(/_(?:oldest_due_age_seconds|pending_deliveries)\{.*\} .*/g);
    idleRig.clock.advance(30_000);
    expect(await readQueueMetrics()).toEqual([
      expect.stringMatching(/^_oldest_due_age_seconds.* 0$/),
      expect.stringMatching(/^_pending_deliveries.* 2$/),
    ]);
    idleRig.clock.advance(75_000);
    expect(await readQueueMetrics()).toEqual([
      expect.stringMatching(/^_oldest_due_age_seconds.* 45$/),
      expect.stringMatching(/^_pending_deliveries.* 2$/),
    ]);
    await idleRig.close();
  });

  test("count a gap in a link's versions, but not its first record or an old one", async () => {
    const link = sampleLink({ version: 5 });
    const publishVersion = (version: number) =>
      rig.publish(
        createOutgoingEvent(linkSnapshot, {
          key: link.id,
          occurredAt: rig.clock.now(),
          data: { link: { ...link, version } },
        }),
      );
    for (const version of [5, 6, 4, 7]) await publishVersion(version);
    expect(await readMetric("payment_links_link_version_jumps_total")).toMatch(/ 0$/);
    await publishVersion(9);
    expect(await readMetric("payment_links_link_version_jumps_total")).toMatch(/ 1$/);
  });
});

describe("dead letters", () => {
  const DeadLetterList = z.object({ data: z.array(z.unknown()) });
  const path = "/internal/dead-letters/webhook-dispatcher";

  test("are listed in order, and a replay reports what still cannot be applied", async () => {
    const person = rig.signIn();
    await rig.register(person, "/replayed");
    const link = sampleLink({ userId: person.userId });
    await rig.bus.publish([
      {
        topic: "payment-links.v1",
        key: link.id,
        headers: {
          ce_id: "evt_x",
          ce_type: "payment_link.completed",
          ce_time: "2026-11-21T10:00:00Z",
        },
        value: "{}",
      },
    ]);
    await rig.publishCompleted(person, link);
    const listDeadLetters = async () =>
      DeadLetterList.parse(await (await fetch(rig.internalUrl + path)).json()).data;
    expect(await listDeadLetters()).toMatchObject([
      { key: link.id, eventId: null, reason: expect.stringContaining("data") },
      { key: link.id, reason: expect.stringContaining("behind") },
    ]);
    // The first record is unreadable. The second one waits behind it, to preserve the order per
    // link.
    const response = await fetch(`${rig.internalUrl}${path}/replay`, { method: "POST" });
    expect(await response.json()).toMatchObject({ replayedCount: 0, failures: [{ key: link.id }] });
  });
});

describe("tracing", () => {
  test("propagates the event's trace to the receiver", async () => {
    const tracing = await startCollectedTracing("webhook-dispatcher");
    const person = rig.signIn();
    await rig.register(person, "/traced");
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const link = sampleLink({ userId: person.userId });
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const occurredAt = rig.clock.now();
    const event = createOutgoingEvent(linkCompleted, { key: link.id, occurredAt, data: { link } });
    await rig.publish(event, { traceparent });
    const receivedWebhook = await waitUntil("the webhook arrives", () =>
      receiver.received.find((request) => request.path === "/traced"),
    );
    expect(receivedWebhook.headers["traceparent"]).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`),
    );
    expect(receivedWebhook.headers["traceparent"]).not.toBe(traceparent);
    await tracing.stopTracing();
    await tracing.close();
  });
});
