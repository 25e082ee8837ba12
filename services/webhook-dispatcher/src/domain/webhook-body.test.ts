import { describe, expect, test } from "@jest/globals";
import { Decimal, LinkTransaction, newId, webhookBodies } from "@payment-links/contracts";
import * as z from "zod";
import { sampleLink, sampleTransaction } from "../testing/samples.ts";
import { type WebhookEvent, serializeWebhookBody } from "./webhook-body.ts";

const now = new Date("2026-11-21T10:00:00.000Z");

const createEvent = (overrides: Partial<WebhookEvent> = {}): WebhookEvent => ({
  id: newId("evt"),
  eventType: "payment_link.transaction.succeeded",
  occurredAt: now,
  transaction: null,
  ...overrides,
});

/** Returns the value with the keys of every object sorted by code units. */
const sortKeysDeep = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeysDeep);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, innerValue]) => [key, sortKeysDeep(innerValue)]));
};

const transaction = z.encode(LinkTransaction, sampleTransaction());

describe("serializeWebhookBody", () => {
  test.each([
    ["a payment event", createEvent({ transaction })],
    [
      "a payment event with an unknown source",
      createEvent({ transaction: { ...transaction, sourceTransaction: null } }),
    ],
    ["a completion event", createEvent({ eventType: "payment_link.completed" })],
    [
      "an event of an unapplied payment",
      createEvent({
        eventType: "payment_link.transaction.unapplied",
        transaction: { ...transaction, reason: "expired" },
      }),
    ],
  ])(
    "writes %s with all fields, sorted keys and no whitespace (rules HOOK-8, HOOK-9 and HOOK-21)",
    (_which, event) => {
      const link = sampleLink({ description: "a b\n\u00e9", maxUsage: 3 });
      const text = serializeWebhookBody(event, link, now);
      const body: unknown = JSON.parse(text);
      expect(webhookBodies[event.eventType].strict().parse(body)).toEqual(body);
      expect(text).toBe(JSON.stringify(sortKeysDeep(body)));
    },
  );

  test("writes exactly the bytes of rule HOOK-8, with the event's time and the current status", () => {
    const link = sampleLink({
      id: "plink_1",
      description: "Order 7",
      maxUsage: 3,
      expirationDate: now,
    });
    const event = createEvent({
      id: "evt_1",
      occurredAt: new Date(now.getTime() - 60_000),
      transaction: { ...transaction, id: "tx_1", status: "processing", amount: "2.5" },
    });
    expect(serializeWebhookBody(event, link, now)).toBe(
      '{"createdAt":"2026-11-21T09:59:00.000Z","data":{"amount":"25","chainId":"8453",' +
        '"currentUsage":1,"description":"Order 7","maxUsage":3,"paymentLinkId":"plink_1",' +
        '"receivedAmount":"10.5","status":"inactive",' +
        `"tokenAddress":"${link.tokenAddress}","transaction":{"amount":"2.5",` +
        '"chainId":"8453","dateCreated":"2026-11-21T09:58:00.000Z","id":"tx_1",' +
        `"sourceTransaction":"0x${"ab".repeat(32)}","status":"processing",` +
        `"tokenAddress":"${link.tokenAddress}"}},` +
        '"id":"evt_1","type":"payment_link.transaction.succeeded"}',
    );
  });

  test("writes amounts as plain decimals and missing values as null", () => {
    const link = sampleLink({ toAmount: new Decimal("1e-7"), receivedAmount: new Decimal("0") });
    expect(JSON.parse(serializeWebhookBody(createEvent(), link, now))).toMatchObject({
      data: { amount: "0.0000001", receivedAmount: "0", maxUsage: null, description: null },
    });
  });

  test("omits unknown fields of the stored transaction (rule HOOK-9)", () => {
    const event = createEvent({
      transaction: { payer: "0x1", ...transaction } as typeof transaction,
    });
    expect(serializeWebhookBody(event, sampleLink(), now)).not.toContain("payer");
  });
});
