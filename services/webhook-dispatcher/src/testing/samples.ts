import {
  Decimal,
  type LinkTransaction,
  type PaymentLinkState,
  newId,
  pickLinkTexts,
} from "@payment-links/contracts";
import type { NewDelivery } from "../store/deliveries.ts";

const owner = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/** Creates a link's state as links-api publishes it. */
export const sampleLink = (overrides: Partial<PaymentLinkState> = {}): PaymentLinkState => ({
  id: newId("plink"),
  version: 2,
  userId: newId("user"),
  status: "active",
  toAmount: new Decimal("25"),
  receivedAmount: new Decimal("10.5"),
  currentUsage: 1,
  maxUsage: null,
  ...pickLinkTexts({}),
  expirationDate: null,
  destinationAddress: owner,
  chainId: "8453",
  tokenAddress: usdc,
  paymentReference: "00112233445566778899aabbccddeeff",
  dateCreated: new Date("2026-11-21T09:00:00.000Z"),
  ...overrides,
});

/** Creates a settled payment of a link. */
export const sampleTransaction = (overrides: Partial<LinkTransaction> = {}): LinkTransaction => ({
  id: newId("tx"),
  status: "settled",
  amount: new Decimal("10.5"),
  tokenAddress: usdc,
  chainId: "8453",
  sourceTransaction: `0x${"ab".repeat(32)}`,
  dateCreated: new Date("2026-11-21T09:58:00.000Z"),
  ...overrides,
});

type DeliveryOverrides = Partial<Omit<NewDelivery, "nextAttemptAt" | "leaseUntil">> & {
  leaseUntil?: Date;
};

/**
 * Creates a delivery for an event at the given time. It is due immediately, or leased until the
 * given time.
 */
export const sampleDelivery = (
  endpointId: string,
  occurredAt: Date,
  { leaseUntil, ...overrides }: DeliveryOverrides = {},
): NewDelivery => ({
  id: newId("evt"),
  endpointId,
  eventId: newId("evt"),
  earliestPublishedAt: occurredAt,
  linkId: newId("plink"),
  eventType: "payment_link.completed",
  occurredAt,
  transaction: null,
  traceparent: null,
  dateCreated: occurredAt,
  ...overrides,
  ...(leaseUntil === undefined
    ? { nextAttemptAt: occurredAt, leaseUntil: null }
    : { nextAttemptAt: null, leaseUntil }),
});

/** Creates an attempt of a webhook with the id `evt_1`. */
export const sampleAttempt = (url: URL | null, now: Date, leaseUntil: Date) => ({
  delivery: { ...sampleDelivery("whe_1", now), id: "evt_1", attempts: 1 },
  link: sampleLink(),
  startedAt: now,
  target: { url, secret: "whsec_x" },
  leaseUntil,
});
