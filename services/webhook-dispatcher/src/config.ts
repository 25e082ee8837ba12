import * as z from "zod";
import { SmtpFrom, WebhookHeaderPrefix } from "@payment-links/contracts";
import { CommaList, readSecret } from "@payment-links/runtime";
import { attemptsMax } from "./domain/retry-schedule.ts";
import { parseSecretKeys } from "./domain/secret-keys.ts";
import { type HostOverrides, parseHostOverrides } from "./guard/host-overrides.ts";

const millisPerSecond = 1000;
const retryWaitSecondsMax = 30 * 24 * 60 * 60;
const defaultSchedule = "0,30,300,1800,7200,43200";

/** The wait before each attempt in seconds, such as `0,30,300`. */
const RetryScheduleSeconds = CommaList.transform((entries) => entries.map(Number)).pipe(
  z.array(z.number().min(0).max(retryWaitSecondsMax)).min(1).max(attemptsMax),
);

/**
 * Parses the service's own environment variables (rule OPS-3). The secret keys can also come from
 * the file that `WEBHOOK_SECRET_KEYS_FILE` names. If `SMTP_FROM` is set, the service publishes
 * notifications (rule MAIL-3). Error messages never contain a value.
 */
export const webhookDispatcherConfig = z
  .object({
    WEBHOOK_SECRET_KEYS: z.string().optional(),
    WEBHOOK_SECRET_KEYS_FILE: z.string().optional(),
    WEBHOOK_HEADER_PREFIX: WebhookHeaderPrefix,
    WEBHOOK_HOST_OVERRIDES: CommaList.default([]),
    WEBHOOK_RETRY_SCHEDULE_SECONDS: RetryScheduleSeconds.prefault(defaultSchedule),
    WEBHOOK_TIMEOUT_SECONDS: z.coerce.number().min(0.1).max(60).default(10),
    WEBHOOK_CONCURRENCY: z.coerce.number().int().min(1).max(5_000).default(256),
    WEBHOOK_ENDPOINT_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(20),
    WEBHOOK_ACCOUNT_CONCURRENCY: z.coerce.number().int().min(1).max(5_000).default(100),
    WEBHOOK_ORIGIN_CONCURRENCY: z.coerce.number().int().min(1).max(5_000).default(128),
    WEBHOOK_LOG_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
    SMTP_FROM: SmtpFrom.optional(),
    NODE_ENV: z.string().default("development"),
  })
  .transform((environment, context) => {
    const fail = (path: string, message: string) => {
      context.addIssue({ code: "custom", path: [path], message });
      return z.NEVER;
    };
    const secretKeys = parseKeys(environment, fail);
    const overrides = parseOverrides(environment, fail);
    return {
      secretKeys,
      overrides,
      headerPrefix: environment.WEBHOOK_HEADER_PREFIX,
      schedule: environment.WEBHOOK_RETRY_SCHEDULE_SECONDS.map(toMillis),
      timeoutMs: toMillis(environment.WEBHOOK_TIMEOUT_SECONDS),
      slotsMax: environment.WEBHOOK_CONCURRENCY,
      slotsPerEndpointMax: environment.WEBHOOK_ENDPOINT_CONCURRENCY,
      slotsPerAccountMax: environment.WEBHOOK_ACCOUNT_CONCURRENCY,
      slotsPerOriginMax: environment.WEBHOOK_ORIGIN_CONCURRENCY,
      logDays: environment.WEBHOOK_LOG_DAYS,
      hasNotifications: environment.SMTP_FROM !== undefined,
    };
  });
export type WebhookDispatcherConfig = z.output<typeof webhookDispatcherConfig>;

const toMillis = (seconds: number): number => Math.round(seconds * millisPerSecond);

type Fail = (path: string, message: string) => never;

const keysVariable = "WEBHOOK_SECRET_KEYS";
const keysFormatMessage =
  "must be a comma-separated list of <name>=<base64 of 32 bytes> with unique names";

const parseKeys = (
  environment: {
    WEBHOOK_SECRET_KEYS?: string | undefined;
    WEBHOOK_SECRET_KEYS_FILE?: string | undefined;
  },
  fail: Fail,
) => {
  const text = readSecret(environment, keysVariable);
  if (text === undefined) {
    return fail(keysVariable, "is required to seal webhook secrets");
  }
  return parseSecretKeys(text) ?? fail(keysVariable, keysFormatMessage);
};

const overridesVariable = "WEBHOOK_HOST_OVERRIDES";

const parseOverrides = (
  environment: { WEBHOOK_HOST_OVERRIDES: string[]; NODE_ENV: string },
  fail: Fail,
): HostOverrides => {
  const entries = environment.WEBHOOK_HOST_OVERRIDES;
  if (entries.length > 0 && environment.NODE_ENV === "production") {
    return fail(
      overridesVariable,
      "is not allowed with NODE_ENV=production, because it bypasses the public-address check",
    );
  }
  const overrides = parseHostOverrides(entries);
  return overrides ?? fail(overridesVariable, "must be <host>=<http or https origin>, …");
};
