import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { type ComposedEmail, composeEmail } from "../domain/compose-email.ts";
import {
  EmailContent,
  computeRetryAt,
  confirmationLifetimeMs,
  emailAttemptsMax,
  isExpired,
  isNotificationKind,
  listUnsubscribeKinds,
  unsubscribeLifetimeMs,
} from "../domain/email.ts";
import { SmtpError } from "../domain/smtp-error.ts";
import { generateHashedToken } from "../domain/token.ts";
import {
  type ClaimedEmail,
  type EmailResult,
  claimEmails,
  countSummarized,
  recordEmailResult,
} from "../store/emails.ts";
import { findNotificationSettings, saveConfirmation } from "../store/notification-settings.ts";
import { insertUnsubscribeToken } from "../store/unsubscribe-tokens.ts";

/** The number of emails that one process sends at the same time. */
const concurrentEmails = 10;

/** Longer than an attempt can take, so that no email has two attempts at the same time. */
const leaseMs = 60_000;

type JobDependencies = Pick<Dependencies, "pool" | "clock" | "log" | "baseUrl" | "counters"> & {
  sendEmail: NonNullable<Dependencies["sendEmail"]>;
  /** Returns a number from 0 to 1. Default: `Math.random`. */
  random?: () => number;
};

/**
 * Sends due emails. An email is sent at least once: if the process ends before it records the
 * result, another attempt follows after the lease, with the same Message-ID.
 */
export const sendEmails = (dependencies: JobDependencies): BackgroundJob => ({
  name: "emails",
  waitMs: 2_000,
  run: async () => {
    const { clock, pool } = dependencies;
    const now = clock.now();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const emails = await claimEmails(pool, { now, leaseUntil, rowsMax: concurrentEmails });
    await Promise.all(emails.map((email) => sendAndRecord(dependencies, email)));
    return emails.length === concurrentEmails;
  },
});

const sendAndRecord = async (dependencies: JobDependencies, email: ClaimedEmail): Promise<void> => {
  const result = await sendClaimed(dependencies, email);
  dependencies.counters.countEmail(result.status === "pending" ? "failed" : result.status);
  await recordEmailResult(dependencies.pool, email, result);
};

const sendClaimed = async (
  dependencies: JobDependencies,
  email: ClaimedEmail,
): Promise<EmailResult> => {
  const { clock, log, random = Math.random, sendEmail } = dependencies;
  // The last attempt ended with its process, or the service was stopped for a day.
  if (email.attempts > emailAttemptsMax || isExpired(email, clock.now())) {
    return { status: "given_up" };
  }
  try {
    const message = await prepareMessage(dependencies, email);
    if (message === undefined) return { status: "dropped" };
    await sendEmail({ ...message, id: email.id });
    return { status: "sent" };
  } catch (error) {
    const { attempts, id, kind } = email;
    log.warn({ err: error, email_id: id, kind, attempts }, "email could not be sent");
    const isPermanent = error instanceof SmtpError && error.isPermanent;
    const retryAt = isPermanent ? undefined : computeRetryAt(email, { now: clock.now(), random });
    return retryAt === undefined ? { status: "given_up" } : { status: "pending", retryAt };
  }
};

/**
 * Returns the email with its current recipient. Returns undefined if it has none: the address was
 * removed or changed, or the owner switched the kind off.
 */
const prepareMessage = async (
  { baseUrl, clock, pool }: JobDependencies,
  { accountId, content: storedContent, kind }: ClaimedEmail,
): Promise<(ComposedEmail & { to: string }) | undefined> => {
  const content = EmailContent.parse(storedContent);
  const settings = await findNotificationSettings(pool, accountId);
  if (settings === undefined) return undefined;
  const { address, disabledKinds, language } = settings;
  if (content.type === "address_confirmation") {
    const { token: confirmationToken, hash } = generateHashedToken();
    const isPending = await saveConfirmation(pool, {
      accountId,
      address: content.address,
      hash,
      expiresAt: new Date(clock.now().getTime() + confirmationLifetimeMs),
    });
    if (!isPending) return undefined;
    const message = composeEmail(content, { baseUrl, language, confirmationToken });
    return { ...message, to: content.address };
  }
  if (content.type === "address_removed") {
    return { ...composeEmail(content, { baseUrl, language }), to: content.address };
  }
  if (address === null) return undefined;
  if (isNotificationKind(kind) && disabledKinds.includes(kind)) return undefined;
  const summaryCounts =
    content.type === "summary"
      ? await countSummarized(pool, { accountId, hour: new Date(content.hour) })
      : {};
  const { token: unsubscribeToken, hash } = generateHashedToken();
  const isCurrent = await insertUnsubscribeToken(pool, {
    hash,
    accountId,
    kinds: listUnsubscribeKinds(kind, summaryCounts),
    address,
    expiresAt: new Date(clock.now().getTime() + unsubscribeLifetimeMs),
  });
  if (!isCurrent) return undefined;
  const context = { baseUrl, language, summaryCounts, unsubscribeToken };
  return { ...composeEmail(content, context), to: address };
};
