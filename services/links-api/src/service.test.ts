import { beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import type { EventType, SettlementState } from "@payment-links/contracts";
import { accountUpdated, newId, settlementSettled, topics } from "@payment-links/contracts";
import { afterMs } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { createRig } from "./testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "./testing/samples.ts";

const { clock, shift } = createShiftedClock();
const rig = useRig(() => createRig({ clock }));
const receivedEvents: {
  type: string;
  key: string | undefined;
  data: ReturnType<typeof JSON.parse>;
}[] = [];
beforeAll(async () => {
  await rig.bus.subscribe({
    group: "test",
    topics: [topics.paymentLinks],
    handle: async (records) => {
      for (const { headers, key, value } of records) {
        receivedEvents.push({
          type: headers["ce_type"] ?? "",
          key,
          data: JSON.parse(String(value)),
        });
      }
      return { handledCount: records.length };
    },
  });
  await rig.service.start();
});

const publish = <Event extends EventType>(
  event: Event,
  key: string,
  data: z.output<Event["data"]>,
) =>
  rig.bus.publish([
    {
      topic: event.topic,
      key,
      headers: {
        ce_id: newId("evt"),
        ce_type: event.type,
        ce_source: "test",
        ce_time: new Date().toISOString(),
        ce_specversion: "1.0",
      },
      value: JSON.stringify(z.encode(event.data, data)),
    },
  ]);

const settle = (settlement: SettlementState) =>
  publish(settlementSettled, settlement.paymentLinkId, settlement);

const listEventTypes = (id: string) =>
  receivedEvents.filter(({ key }) => key === id).map(({ type }) => type);

describe("the started service", () => {
  test("consumes settlements and accounts, and publishes its links' events in order", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25" });
    await settle(sampleSettlement(id, { amount: "10.5" }));
    await settle(sampleSettlement(id, { amount: "14.5" }));
    await publish(accountUpdated, account.id, { ...account, version: 2, username: "Renamed" });
    const link = await rig.retrieve(id);
    expect(link).toMatchObject({ status: "completed", receivedAmount: "25" });
    expect(link.user.username).toBe("Renamed");
    await waitUntil("four events are published", () => listEventTypes(id).length >= 4);
    expect(listEventTypes(id)).toEqual([
      "payment_link.created",
      "payment_link.transaction.succeeded",
      "payment_link.transaction.succeeded",
      "payment_link.completed",
    ]);
  });

  test("dead-letters a settlement of an unknown link, continues, and retries it on a replay", async () => {
    const unknownLinkSettlement = sampleSettlement("plink_01m7y4kb9sfvktcnzb0r3g9a0s", {
      amount: "1",
    });
    await settle(unknownLinkSettlement);
    const id = await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "25" });
    await settle(sampleSettlement(id, { amount: "1" }));
    expect((await rig.retrieve(id)).receivedAmount).toBe("1");

    const path = "/internal/dead-letters/links-api";
    const { json: deadLetters } = await rig.internalCall(path);
    expect(deadLetters.data).toEqual([
      expect.objectContaining({
        topic: topics.settlements,
        key: unknownLinkSettlement.paymentLinkId,
      }),
    ]);
    const replay = await rig.internalCall(`${path}/replay`, { method: "POST" });
    expect(replay.json).toMatchObject({ replayedCount: 0 });
    expect(replay.json.failures).toHaveLength(1);
  });

  test("marks expired links inactive in the background, without an event (rule STATE-3)", async () => {
    const expirationDate = afterMs(clock, 3_600_000).toISOString();
    const id = await rig.createLink(rig.createKeyHeaders(sampleAccount()), {
      toAmount: "1",
      expirationDate,
    });
    shift.nowMs += 3_600_000;
    await waitUntil(
      "the expiry job marks the link",
      async () => (await rig.readStoredStatus(id)) === "inactive",
    );
    expect(listEventTypes(id)).toEqual(["payment_link.created"]);
  });
});
