import {
  Decimal,
  type LinkTransaction,
  type PaymentLinkState,
  newId,
  linkTexts,
} from "@payment-links/contracts";
import type { NewDelivery } from "../store/deliveries.ts";

const owner = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/** A link's state as links-api publishes it. */
export const sampleLink = (change: Partial<PaymentLinkState> = {}): PaymentLinkState => ({
  id: newId("plink"),
  version: 2,
  userId: newId("user"),
  status: "active",
  toAmount: new Decimal("25"),
  receivedAmount: new Decimal("10.5"),
  currentUsage: 1,
  maxUsage: null,
  ...linkTexts({}),
  expirationDate: null,
  destinationAddress: owner,
  chainId: "8453",
  tokenAddress: usdc,
  paymentReference: "00112233445566778899aabbccddeeff",
  dateCreated: new Date("2026-11-21T09:00:00.000Z"),
  ...change,
});

/** A payment that settled on a link. */
export const sampleTransaction = (change: Partial<LinkTransaction> = {}): LinkTransaction => ({
  id: newId("tx"),
  status: "settled",
  amount: new Decimal("10.5"),
  tokenAddress: usdc,
  chainId: "8453",
  sourceTransaction: `0x${"ab".repeat(32)}`,
  dateCreated: new Date("2026-11-21T09:58:00.000Z"),
  ...change,
});

type DeliveryChange = Partial<Omit<NewDelivery, "nextAttemptAt" | "leaseUntil">> & {
  leaseUntil?: Date;
};

/** A delivery of an event that occurs at a time. It is due at once, or leased until the time that is given. */
export const sampleDelivery = (
  endpointId: string,
  at: Date,
  { leaseUntil, ...change }: DeliveryChange = {},
): NewDelivery => ({
  id: newId("evt"),
  endpointId,
  eventId: newId("evt"),
  possibleSince: at,
  linkId: newId("plink"),
  eventType: "payment_link.completed",
  occurredAt: at,
  transaction: null,
  traceparent: null,
  dateCreated: at,
  ...change,
  ...(leaseUntil === undefined
    ? { nextAttemptAt: at, leaseUntil: null }
    : { nextAttemptAt: null, leaseUntil }),
});
