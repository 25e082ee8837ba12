import * as z from "zod";
import { type NotificationKind, notificationKinds } from "@payment-links/contracts";

/** The languages of our emails. */
export const emailLanguages = ["en", "de"] as const;
export type EmailLanguage = (typeof emailLanguages)[number];

/**
 * An email about a notification, the confirmation or the removal of an address, or the summary of
 * an hour.
 */
export type EmailKind = NotificationKind | "address_confirmation" | "address_removed" | "summary";

/** The maximum number of emails of one kind to an account per hour. A summary names the others. */
export const emailsPerHourMax = 10;

/** The maximum number of confirmation emails, per account and hour and per address and day. */
export const confirmationsPerAccountMax = 5;
export const confirmationsPerAddressMax = 3;

export const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** How long after its hour a summary is sent, so that it includes what was being stored at the end. */
export const summaryDelayMs = 60_000;

/** How long the link in a confirmation email is valid. */
export const confirmationLifetimeMs = dayMs;

/** How long the unsubscribe link in an email is valid. */
export const unsubscribeLifetimeMs = 60 * dayMs;

/** An email that could not be sent for this long is given up. */
export const emailLifetimeMs = dayMs;

/** How long rows of the queue are kept. Longer than repeated events are accepted. */
export const emailRetentionMs = 2 * dayMs;

/** The delays before the second and the further attempts, 21 h in total. */
const retryDelaysMs = [60, 300, 1_800, 7_200, 21_600, 43_200].map((seconds) => seconds * 1000);

/** The maximum number of attempts to send an email. */
export const emailAttemptsMax = retryDelaysMs.length + 1;

/** The maximum share by which a delay is longer, so that emails do not all retry together. */
const jitterMax = 0.1;

/** Returns when a failed email is sent again, or undefined if it is given up. */
export const computeRetryAt = (
  { attempts, dateCreated }: { attempts: number; dateCreated: Date },
  { now, random }: { now: Date; random: () => number },
): Date | undefined => {
  const delayMs = retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const retryAt = new Date(now.getTime() + delayMs * (1 + jitterMax * random()));
  return isExpired({ dateCreated }, retryAt) ? undefined : retryAt;
};

/** Returns whether an email is too old to be sent. */
export const isExpired = ({ dateCreated }: { dateCreated: Date }, now: Date): boolean =>
  now.getTime() - dateCreated.getTime() >= emailLifetimeMs;

/** Returns the start of the clock hour. The limit of emails and the summary apply to it. */
export const startOfHour = (now: Date): Date =>
  new Date(Math.floor(now.getTime() / hourMs) * hourMs);

const moneyFields = { amount: z.string(), token: z.string(), chain: z.string() };
const linkFields = { linkId: z.string(), description: z.string().nullable() };

/** What an email says. It contains no secret and nothing about a payer. */
export const EmailContent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("payment_received"),
    ...moneyFields,
    ...linkFields,
    isLinkCompleted: z.boolean(),
  }),
  z.object({
    type: z.literal("payment_not_applied"),
    ...moneyFields,
    ...linkFields,
    reason: z.string(),
  }),
  z.object({ type: z.literal("deposit_unmatched"), ...moneyFields }),
  z.object({ type: z.literal("endpoint_failing"), endpointId: z.string(), name: z.string() }),
  z.object({
    type: z.literal("new_sign_in"),
    method: z.string(),
    ipAddress: z.string().nullable(),
    at: z.string(),
  }),
  z.object({
    type: z.literal("new_wallet"),
    walletAddress: z.string(),
    token: z.string(),
    chain: z.string(),
  }),
  z.object({ type: z.literal("address_confirmation"), address: z.string() }),
  z.object({ type: z.literal("address_removed"), address: z.string() }),
  z.object({ type: z.literal("summary"), hour: z.string() }),
]);
export type EmailContent = z.output<typeof EmailContent>;

/** Returns the kinds that the unsubscribe link of an email switches off. */
export const listUnsubscribeKinds = (
  kind: string,
  summaryCounts: SummaryCounts,
): NotificationKind[] =>
  isNotificationKind(kind)
    ? [kind]
    : notificationKinds.filter((summarizedKind) => (summaryCounts[summarizedKind] ?? 0) > 0);

/** The numbers of emails that a summary replaces, by kind. */
export type SummaryCounts = Partial<Record<NotificationKind, number>>;

/** Returns whether a kind is a kind of notification, which an owner can switch off. */
export const isNotificationKind = (kind: string): kind is NotificationKind =>
  notificationKinds.some((notificationKind) => notificationKind === kind);
