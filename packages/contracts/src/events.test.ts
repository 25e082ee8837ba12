import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import * as events from "./events.ts";
import { pickLinkTexts } from "./link-texts.ts";
import { Decimal } from "./money.ts";

const at = new Date("2026-11-21T10:00:00.123Z");
const largeAmount = `${"9".repeat(60)}.${"9".repeat(18)}`;

const account = {
  id: "user_1",
  version: 3,
  handle: null,
  username: "Alice",
  dateCreated: at,
  profileImage: null,
  bio: null,
  backgroundImage: null,
  backgroundColour: null,
  links: null,
  returnUrl: "https://shop.example/thanks?a=1#top",
  wallets: [
    {
      id: "wallet_1",
      walletAddress: "0x1",
      tokenId: "usdc-base",
      chainType: "EVM" as const,
      isDefault: true,
      isChainDefault: true,
      provider: null,
    },
  ],
};

const link = {
  id: "plink_1",
  version: 2,
  userId: "user_1",
  status: "active" as const,
  toAmount: new Decimal(largeAmount),
  receivedAmount: new Decimal("0.000000000000000001"),
  currentUsage: 1,
  maxUsage: null,
  ...pickLinkTexts({ description: 'a "quoted" \u2028 line' }),
  expirationDate: at,
  destinationAddress: "0x1",
  chainId: "8453",
  tokenAddress: "0x2",
  paymentReference: "0123456789abcdef0123456789abcdef",
  dateCreated: at,
};

const transaction = {
  id: "tx_1",
  status: "settled" as const,
  amount: new Decimal("0.1"),
  tokenAddress: "0x2",
  chainId: "8453",
  sourceTransaction: null,
  dateCreated: at,
};

const settlement = {
  id: "tx_1",
  version: 1,
  source: "demo",
  sourceId: "payment 1",
  paymentLinkId: "plink_1",
  status: "settled" as const,
  amount: new Decimal(largeAmount),
  tokenAddress: "0x2",
  chainId: "8453",
  destinationAddress: "0x1",
  sourceTransaction: "0x3",
  occurredAt: at,
  firstSeenAt: at,
  blockNumber: 21_000_000,
};

const chainAdvance = {
  chainId: "8453",
  headBlock: 21_000_007,
  settledTo: 20_999_995,
  neededBlocks: null,
  at,
};

const deposit = {
  id: "dep_1",
  version: 1,
  status: "settled" as const,
  amount: new Decimal(largeAmount),
  tokenAddress: "0x2",
  chainId: "8453",
  destinationAddress: "0x1",
  payer: "0x4",
  sourceTransaction: "0x3",
  occurredAt: at,
  firstSeenAt: at,
};

const audit = {
  id: "aud_01jd0000000000000000000000",
  accountId: "user_1",
  at,
  action: "webhook_endpoint.changed",
  actor: { kind: "session" as const, id: "sess_1", operator: null },
  address: "192.0.2.1",
  userAgent: null,
  method: "passkey",
  targetId: "whe_1",
  detail: { enabled: false },
};

const reservedAddresses = { chainId: "bitcoin", addresses: ["bc1qone", "bc1qother"] };

const receivedMoney = {
  accountId: "user_1",
  amount: new Decimal(largeAmount),
  chainId: "8453",
  tokenAddress: "0x2",
};
const notifications: Readonly<Record<string, object>> = {
  "notification.payment_received": {
    ...receivedMoney,
    linkId: "plink_1",
    description: null,
    isLinkCompleted: true,
  },
  "notification.payment_not_applied": {
    ...receivedMoney,
    linkId: "plink_1",
    description: "Order 7",
    reason: "expired",
  },
  "notification.deposit_unmatched": receivedMoney,
  "notification.endpoint_failing": { accountId: "user_1", endpointId: "whe_1", name: "shop" },
};

const sampleData = (type: string): object => {
  const notification = notifications[type];
  if (notification !== undefined) return notification;
  if (type.startsWith("audit.")) return audit;
  if (type.startsWith("account.")) return account;
  if (type.startsWith("owner_images.")) {
    const { id, version, profileImage, backgroundImage } = account;
    return { id, version, profileImage, backgroundImage };
  }
  if (type === "settlement.chain_advanced") return chainAdvance;
  if (type.startsWith("settlement.")) return settlement;
  if (type.startsWith("deposit.")) return deposit;
  if (type === "bitcoin_addresses.reserved") return reservedAddresses;
  if (type === "payment_link.transaction.unapplied")
    return { link, transaction: { ...transaction, reason: "expired" } };
  return type === "payment_link.transaction.succeeded" ? { link, transaction } : { link };
};

const isEventType = (value: unknown): value is events.EventType =>
  typeof value === "object" && value !== null && "topic" in value && "data" in value;
const exportedValues: readonly unknown[] = Object.values(events);
const eventTypes = exportedValues.filter(isEventType);

describe("event types", () => {
  test("are exactly the twenty-three of rule EVENT-2, each on its topic (rule EVENT-2)", () => {
    expect(eventTypes.map(({ topic, type }) => `${topic} ${type}`).sort()).toEqual([
      "accounts.v1 account.snapshot",
      "accounts.v1 account.updated",
      "audit.v1 audit.recorded",
      "notifications.v1 notification.deposit_unmatched",
      "notifications.v1 notification.endpoint_failing",
      "notifications.v1 notification.payment_not_applied",
      "notifications.v1 notification.payment_received",
      "owner-images.v1 owner_images.snapshot",
      "owner-images.v1 owner_images.updated",
      "payment-links.v1 bitcoin_addresses.reserved",
      "payment-links.v1 payment_link.completed",
      "payment-links.v1 payment_link.created",
      "payment-links.v1 payment_link.deactivated",
      "payment-links.v1 payment_link.snapshot",
      "payment-links.v1 payment_link.transaction.succeeded",
      "payment-links.v1 payment_link.transaction.unapplied",
      "settlements.v1 deposit.orphaned",
      "settlements.v1 deposit.seen",
      "settlements.v1 deposit.settled",
      "settlements.v1 settlement.chain_advanced",
      "settlements.v1 settlement.failed",
      "settlements.v1 settlement.processing",
      "settlements.v1 settlement.settled",
    ]);
  });

  test.each(eventTypes.map((eventType) => [eventType.type, eventType.data] as const))(
    "%s survives encoding to JSON and decoding without losing a digit (rule KEEP-9)",
    (type, data) => {
      const wire = JSON.stringify(z.encode(data, sampleData(type)));
      expect(wire).not.toMatch(/\d[eE][+-]?\d+[",}]/);
      expect(z.decode(data, JSON.parse(wire))).toEqual(sampleData(type));
    },
  );

  test.each(eventTypes.map((eventType) => [eventType.type, eventType.data] as const))(
    "%s is decoded even with a field of a later version (rule EVENT-4)",
    (type, data) => {
      const wire = JSON.parse(JSON.stringify(z.encode(data, sampleData(type))));
      expect(z.decode(data, { ...wire, addedLater: 1 })).toEqual(sampleData(type));
    },
  );

  test("an account's record of an earlier release has no return URL (rules API-39 and EVENT-4)", () => {
    const { returnUrl: _, ...earlierAccount } = account;
    const wire = JSON.parse(JSON.stringify(z.encode(events.accountUpdated.data, earlierAccount)));
    expect(z.decode(events.accountUpdated.data, wire)).toEqual(earlierAccount);
  });

  test.each([
    ["an amount as a JSON number", { toAmount: 25 }],
    ["an amount with an exponent", { toAmount: "1e3" }],
    ["a negative amount", { receivedAmount: "-1" }],
    ["a version of 0", { version: 0 }],
    ["an unknown status", { status: "expired" }],
    ["a payment reference of 15 bytes", { paymentReference: "0".repeat(30) }],
    ["an impossible date", { dateCreated: "2026-02-30T00:00:00Z" }],
    ["an empty id", { id: "" }],
  ])("rejects a link's state with %s", (_name, invalidFields) => {
    const wire = JSON.parse(JSON.stringify(z.encode(events.PaymentLinkState, link)));
    expect(events.PaymentLinkState.safeDecode({ ...wire, ...invalidFields }).success).toBe(false);
  });
});

describe("topics", () => {
  const fortnightMs = String(14 * 24 * 3600 * 1000);
  test.each([
    ["accounts.v1", { "cleanup.policy": "compact", "min.compaction.lag.ms": fortnightMs }],
    ["owner-images.v1", { "cleanup.policy": "compact", "min.compaction.lag.ms": fortnightMs }],
    ["payment-links.v1", { "cleanup.policy": "compact", "min.compaction.lag.ms": fortnightMs }],
    ["audit.v1", { "cleanup.policy": "delete", "retention.ms": String(90 * 24 * 3600 * 1000) }],
    [
      "notifications.v1",
      { "cleanup.policy": "delete", "retention.ms": String(7 * 24 * 3600 * 1000) },
    ],
    [
      "settlements.v1",
      { "cleanup.policy": "delete", "retention.ms": String(90 * 24 * 3600 * 1000) },
    ],
  ] as const)(
    "%s has 12 partitions and the specified retention (rule EVENT-1)",
    (topic, config) => {
      expect(events.topicSettings[topic]).toEqual({ partitions: 12, config });
    },
  );
});
