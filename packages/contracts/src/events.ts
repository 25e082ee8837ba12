import * as z from "zod";
import { Account } from "./account.ts";
import { AuditRecord } from "./audit.ts";
import { Id } from "./ids.ts";
import { Instant } from "./instant.ts";
import { LinkTexts } from "./link-texts.ts";
import { Mode } from "./mode.ts";
import { Amount } from "./money.ts";
import {
  FailingEndpoint,
  ReceivedPayment,
  UnappliedPayment,
  UnmatchedDeposit,
} from "./notification.ts";

/** The topics, one per aggregate and major version. The record key is the aggregate's id. */
export const topics = {
  accounts: "accounts.v1",
  ownerImages: "owner-images.v1",
  audit: "audit.v1",
  settlements: "settlements.v1",
  paymentLinks: "payment-links.v1",
  notifications: "notifications.v1",
} as const;
export type Topic = (typeof topics)[keyof typeof topics];

/**
 * The retention of each topic. The partition count never changes, because that would move keys to
 * other partitions.
 */
export const topicSettings: Record<Topic, { partitions: number; config: Record<string, string> }> =
  {
    [topics.accounts]: createCompactedTopicSettings(),
    [topics.ownerImages]: createCompactedTopicSettings(),
    [topics.paymentLinks]: createCompactedTopicSettings(),
    [topics.settlements]: createRetainedTopicSettings(90),
    // A stream. auth-keys stores its events permanently in its own table.
    [topics.audit]: createRetainedTopicSettings(90),
    // A notification that is older than a day is not sent (rule MAIL-4).
    [topics.notifications]: createRetainedTopicSettings(7),
  };

type TopicUsage = { produces: readonly Topic[]; consumes: readonly Topic[] };

/**
 * The topics that each service produces and consumes. A consumer of a topic also writes the topic's
 * dead letters.
 */
export const topicUsage = {
  "auth-keys": {
    produces: [topics.accounts, topics.ownerImages, topics.audit],
    consumes: [topics.audit, topics.notifications],
  },
  "links-api": {
    produces: [topics.paymentLinks, topics.audit, topics.notifications],
    consumes: [topics.accounts, topics.settlements],
  },
  "settlement-listener": { produces: [topics.settlements], consumes: [topics.paymentLinks] },
  "webhook-dispatcher": {
    produces: [topics.audit, topics.notifications],
    consumes: [topics.ownerImages, topics.paymentLinks],
  },
} as const satisfies Record<string, TopicUsage>;

export const linkStatuses = ["active", "completed", "inactive"] as const;
export const LinkStatus = z.enum(linkStatuses);
export type LinkStatus = z.output<typeof LinkStatus>;

export const paymentStatuses = ["processing", "settled", "failed"] as const;
export const PaymentStatus = z.enum(paymentStatuses);
export type PaymentStatus = z.output<typeof PaymentStatus>;

/** A payment in a link's event and in a webhook's `data.transaction` (rule HOOK-9). */
export const LinkTransaction = z.object({
  id: Id,
  status: PaymentStatus,
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  sourceTransaction: z.string().nullable(),
  dateCreated: Instant,
});
export type LinkTransaction = z.output<typeof LinkTransaction>;

/** A settled payment that was not applied, and why (rule HOOK-21). */
export const UnappliedTransaction = LinkTransaction.extend({ reason: z.string() });
export type UnappliedTransaction = z.output<typeof UnappliedTransaction>;

/**
 * The full state of a link after an event. `status` is `inactive` only if the link was deactivated
 * or already expired at that time, so consumers compare `expirationDate` with their own clock.
 * `paymentReference` is 16 random bytes in hex, by which an on-chain payment identifies its link.
 * No `/v1` response contains it.
 */
export const PaymentLinkState = z.object({
  id: Id,
  version: z.int().positive(),
  userId: Id,
  status: LinkStatus,
  toAmount: Amount,
  receivedAmount: Amount,
  currentUsage: z.int().nonnegative(),
  maxUsage: z.int().positive().nullable(),
  ...LinkTexts.shape,
  expirationDate: Instant.nullable(),
  destinationAddress: z.string(),
  chainId: z.string(),
  tokenAddress: z.string(),
  paymentReference: z.string().regex(/^[0-9a-f]{32}$/),
  dateCreated: Instant,
  /** Missing means live: records of earlier releases lack this field. */
  mode: Mode.optional(),
});
export type PaymentLinkState = z.output<typeof PaymentLinkState>;

const BlockNumber = z.int().nonnegative();

/**
 * The full state of a payment, as settlement-listener observed it. `source` and `sourceId` identify
 * it permanently.
 */
export const SettlementState = z.object({
  id: Id,
  version: z.int().positive(),
  source: z.string(),
  sourceId: z.string(),
  paymentLinkId: Id,
  status: PaymentStatus,
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  /**
   * The sender that the token's transfer reports. Missing if the chain reports none, for a payment
   * that a provider reported, and in records of earlier releases.
   */
  payer: z.string().optional(),
  sourceTransaction: z.string().nullable(),
  occurredAt: Instant,
  firstSeenAt: Instant,
  /**
   * When a quorum of the chain's providers had first seen the transaction, unconfirmed or in a
   * block (rule STATE-15). Missing before that, and for a payment that a provider's notice
   * reported.
   */
  witnessedAt: Instant.optional(),
  /**
   * Whether the payment was orphaned: after it had settled (rule STATE-10), or, on Bitcoin, while
   * it was processing (rule CHAIN-24). False once its chain includes it again. Missing for a
   * payment that a provider reported.
   */
  isOrphaned: z.boolean().optional(),
  /**
   * The block that contained the payment when the event was published. Null if no block contained
   * the payment or if a provider reported it.
   */
  blockNumber: BlockNumber.nullable().optional(),
});
export type SettlementState = z.output<typeof SettlementState>;

/** The number of confirmations that a payment of at least each amount needs. */
export const ConfirmationsByAmount = z.array(z.object({ from: Amount, blocks: BlockNumber }));

/** The progress of a chain, published while payments on it wait to be settled (rule EVENT-9). */
export const ChainAdvance = z.object({
  chainId: z.string(),
  /** The newest block. */
  headBlock: BlockNumber,
  /** The newest block whose payments are settled. */
  settledTo: BlockNumber,
  /**
   * The number of confirmations that the policy requires, or null if a block tag of the chain
   * decides.
   */
  neededBlocks: BlockNumber.nullable(),
  /** Higher confirmation counts for larger amounts (Bitcoin). */
  neededByAmount: ConfirmationsByAmount.optional(),
  at: Instant,
});
export type ChainAdvance = z.output<typeof ChainAdvance>;

export const depositStatuses = ["seen", "settled", "orphaned"] as const;
export const DepositStatus = z.enum(depositStatuses);
export type DepositStatus = z.output<typeof DepositStatus>;

/**
 * The full state of a deposit: a transfer to an owner's address that does not identify a link.
 * `orphaned` means that its chain dropped it. A deposit that had settled can return to the chain
 * (rule CHAIN-20).
 */
export const DepositState = z.object({
  id: Id,
  version: z.int().positive(),
  status: DepositStatus,
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  /** The sender that the token's transfer reports, or null if the chain reports none. */
  payer: z.string().nullable(),
  sourceTransaction: z.string(),
  occurredAt: Instant,
  firstSeenAt: Instant,
});
export type DepositState = z.output<typeof DepositState>;

/**
 * Bitcoin addresses that the next links of a key will use. They are watched in advance, so that
 * money that is older than its link can be recognized (rule CHAIN-28).
 */
export const ReservedAddresses = z.object({
  chainId: z.string(),
  addresses: z.array(z.string()).min(1),
});

/** A type of event: its topic, its name and the schema of its data. */
export type EventType<Data extends z.ZodType = z.ZodType> = {
  readonly topic: Topic;
  readonly type: string;
  readonly data: Data;
};

const defineEventType = <Data extends z.ZodType>(topic: Topic, type: string, data: Data) =>
  ({ topic, type, data }) as const satisfies EventType<Data>;

const LinkEvent = z.object({ link: PaymentLinkState });
const LinkPaymentEvent = z.object({ link: PaymentLinkState, transaction: LinkTransaction });
const UnappliedPaymentEvent = z.object({
  link: PaymentLinkState,
  transaction: UnappliedTransaction,
});

export const accountUpdated = defineEventType(topics.accounts, "account.updated", Account);
export const accountSnapshot = defineEventType(topics.accounts, "account.snapshot", Account);

/** An account's images, without the account's other fields (rule EVENT-10). */
export const OwnerImages = Account.pick({
  id: true,
  version: true,
  profileImage: true,
  backgroundImage: true,
});
export type OwnerImages = z.output<typeof OwnerImages>;

export const ownerImagesUpdated = defineEventType(
  topics.ownerImages,
  "owner_images.updated",
  OwnerImages,
);
export const ownerImagesSnapshot = defineEventType(
  topics.ownerImages,
  "owner_images.snapshot",
  OwnerImages,
);

export const auditRecorded = defineEventType(topics.audit, "audit.recorded", AuditRecord);

export const linkCreated = defineEventType(topics.paymentLinks, "payment_link.created", LinkEvent);
export const linkTransactionSucceeded = defineEventType(
  topics.paymentLinks,
  "payment_link.transaction.succeeded",
  LinkPaymentEvent,
);
export const linkTransactionUnapplied = defineEventType(
  topics.paymentLinks,
  "payment_link.transaction.unapplied",
  UnappliedPaymentEvent,
);
export const linkCompleted = defineEventType(
  topics.paymentLinks,
  "payment_link.completed",
  LinkEvent,
);
export const linkDeactivated = defineEventType(
  topics.paymentLinks,
  "payment_link.deactivated",
  LinkEvent,
);
export const linkSnapshot = defineEventType(
  topics.paymentLinks,
  "payment_link.snapshot",
  LinkEvent,
);

/** The event types that contain a link's whole state. */
export const linkEvents = [
  linkCreated,
  linkTransactionSucceeded,
  linkTransactionUnapplied,
  linkCompleted,
  linkDeactivated,
  linkSnapshot,
];

export const bitcoinAddressesReserved = defineEventType(
  topics.paymentLinks,
  "bitcoin_addresses.reserved",
  ReservedAddresses,
);

export const settlementProcessing = defineEventType(
  topics.settlements,
  "settlement.processing",
  SettlementState,
);
export const settlementSettled = defineEventType(
  topics.settlements,
  "settlement.settled",
  SettlementState,
);
export const settlementFailed = defineEventType(
  topics.settlements,
  "settlement.failed",
  SettlementState,
);
export const chainAdvanced = defineEventType(
  topics.settlements,
  "settlement.chain_advanced",
  ChainAdvance,
);

export const depositSeen = defineEventType(topics.settlements, "deposit.seen", DepositState);
export const depositSettled = defineEventType(topics.settlements, "deposit.settled", DepositState);
export const depositOrphaned = defineEventType(
  topics.settlements,
  "deposit.orphaned",
  DepositState,
);

export const paymentReceived = defineEventType(
  topics.notifications,
  "notification.payment_received",
  ReceivedPayment,
);
export const paymentNotApplied = defineEventType(
  topics.notifications,
  "notification.payment_not_applied",
  UnappliedPayment,
);
export const depositUnmatched = defineEventType(
  topics.notifications,
  "notification.deposit_unmatched",
  UnmatchedDeposit,
);
export const endpointFailing = defineEventType(
  topics.notifications,
  "notification.endpoint_failing",
  FailingEndpoint,
);

function createCompactedTopicSettings() {
  return {
    partitions: 12,
    config: { "cleanup.policy": "compact", "min.compaction.lag.ms": daysToMs(14) },
  };
}

function createRetainedTopicSettings(dayCount: number) {
  return {
    partitions: 12,
    config: { "cleanup.policy": "delete", "retention.ms": daysToMs(dayCount) },
  };
}

function daysToMs(dayCount: number): string {
  return String(dayCount * 24 * 60 * 60 * 1000);
}
