import { Counter, Gauge } from "prom-client";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import type { IntrospectionResult } from "./domain/introspection.ts";
import type { SignInMethod } from "./domain/session.ts";

/**
 * The outcome of a sign-in. It is `failed` if the error is ours or the identity provider is
 * unavailable, and `left` if the client disconnected before the response.
 */
type SignInResult = "succeeded" | "refused" | "left" | "failed";

/** How an attempt to send a notification ended. A `failed` one is repeated. */
type EmailOutcome = "sent" | "failed" | "given_up" | "dropped";

/** How sending a receipt ended. It is not repeated. A `rejected` one had an unusable address. */
type ReceiptOutcome = "sent" | "rejected" | "failed";

/** The service's own counters. No label ever contains an account or a credential. */
export type Counters = {
  countIntrospection(kind: "api-key" | "session", outcome: IntrospectionResult): void;
  countSignIn(method: SignInMethod, outcome: SignInResult): void;
  countEmail(outcome: EmailOutcome): void;
  countReceipt(outcome: ReceiptOutcome): void;
};

/** Registers the service's own counters. */
export const createCounters = (metrics: Metrics): Counters => {
  const introspectionCounter = new Counter({
    name: "payment_links_introspections_total",
    help: "Introspection requests, by kind of credential and outcome",
    labelNames: ["kind", "outcome"] as const,
    registers: [metrics],
  });
  const signInCounter = new Counter({
    name: "payment_links_sign_ins_total",
    help: "Sign-in attempts, by method and outcome",
    labelNames: ["method", "outcome"] as const,
    registers: [metrics],
  });
  const emailCounter = new Counter({
    name: "payment_links_emails_total",
    help: "Attempts to send an email, by type (notification, receipt) and outcome: sent, failed, given_up, dropped or rejected",
    labelNames: ["type", "outcome"] as const,
    registers: [metrics],
  });
  return {
    countIntrospection: (kind, outcome) => introspectionCounter.inc({ kind, outcome }),
    countSignIn: (method, outcome) => signInCounter.inc({ method, outcome }),
    countEmail: (outcome) => emailCounter.inc({ type: "notification", outcome }),
    countReceipt: (outcome) => emailCounter.inc({ type: "receipt", outcome }),
  };
};

type QueueMetricsOptions = {
  metrics: Metrics;
  clock: Clock;
  log: Log;
  /** Returns since when the first due email has been due. */
  findOldestDueAt: (now: Date) => Promise<Date | undefined>;
};

/**
 * Registers the age of the email queue. Keeps the last value if the database is unavailable,
 * because the scrape must still return the other metrics.
 */
export const registerEmailQueue = ({
  metrics,
  clock,
  log,
  findOldestDueAt,
}: QueueMetricsOptions): void => {
  const oldestDueAge = new Gauge({
    name: "payment_links_email_oldest_due_age_seconds",
    help: "Time since the oldest due email became due; 0 if none is due",
    registers: [metrics],
    collect: async () => {
      try {
        const now = clock.now();
        const dueAt = (await findOldestDueAt(now)) ?? now;
        oldestDueAge.set((now.getTime() - dueAt.getTime()) / 1000);
      } catch (error) {
        log.warn({ err: error }, "email queue could not be measured");
      }
    },
  });
};
