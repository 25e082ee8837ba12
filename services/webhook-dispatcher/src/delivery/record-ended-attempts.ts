import type { Transaction } from "@payment-links/postgres";
import { type EndpointHour, startOfHour } from "../domain/endpoint-hour.ts";
import { type RetrySchedule, computeNextAttemptAt } from "../domain/retry-schedule.ts";
import { type AttemptResult, recordResults } from "../store/ended-deliveries.ts";
import { type OutcomeRun, recordOutcomes } from "../store/endpoints.ts";
import { publishFailingEndpoints } from "../store/notifications.ts";
import type { AttemptOutcome } from "./attempt/attempt-outcome.ts";

/**
 * An ended attempt. It is recorded by the process that made it, or by another one if its lease
 * expired.
 */
export type EndedAttempt = Omit<
  AttemptResult,
  "isDelivered" | "httpStatus" | "error" | "nextAttemptAt"
> & { endedAt: Date; leaseUntil: Date; outcome: AttemptOutcome };

type RetryOptions = {
  schedule: RetrySchedule;
  /** Returns a number from 0 to 1 that spreads out the retries of attempts that failed together. */
  random: () => number;
  /** Whether to publish that an endpoint started to fail. Default: false. */
  hasNotifications?: boolean;
};

/**
 * Records how attempts ended, schedules their retries, and updates the statistics of their
 * endpoints. Returns the attempts that must be recorded again, because another transaction is
 * changing their deliveries.
 */
export const recordEndedAttempts = async (
  tx: Transaction,
  endedAttempts: readonly EndedAttempt[],
  retryOptions: RetryOptions,
): Promise<readonly EndedAttempt[]> => {
  const attemptsByResult = new Map(
    endedAttempts.map((ended) => [toAttemptResult(ended, retryOptions), ended]),
  );
  const { locked, superseded } = await recordResults(tx, [...attemptsByResult.keys()]);
  const countedAttempts = [...attemptsByResult].flatMap(([result, ended]) =>
    locked.has(result) || superseded.has(result) ? [] : [ended],
  );
  const failingEndpoints = await recordOutcomes(tx, {
    runs: toOutcomeRuns(countedAttempts),
    hours: toEndpointHours(countedAttempts),
  });
  if (retryOptions.hasNotifications === true && failingEndpoints.length > 0) {
    const endTimes = countedAttempts.map(({ endedAt }) => endedAt.getTime());
    await publishFailingEndpoints(tx, failingEndpoints, new Date(Math.max(...endTimes)));
  }
  return [...attemptsByResult].flatMap(([result, ended]) => (locked.has(result) ? [ended] : []));
};

const toAttemptResult = (
  { outcome, ...ended }: EndedAttempt,
  { schedule, random }: RetryOptions,
): AttemptResult => {
  const isDelivered = outcome.kind === "delivered";
  const { httpStatus, error } = outcome;
  const failedAttempt = { ...ended, random: random() };
  const nextAttemptAt = isDelivered ? null : computeNextAttemptAt(schedule, failedAttempt);
  return { ...ended, isDelivered, httpStatus, error, nextAttemptAt };
};

const toOutcomeRuns = (endedAttempts: readonly EndedAttempt[]): OutcomeRun[] => {
  const runs = new Map<string, OutcomeRun>();
  for (const { endpointId, outcome } of endedAttempts) {
    const run = runs.get(endpointId);
    const isDelivered = outcome.kind === "delivered";
    runs.set(endpointId, {
      endpointId,
      lastOutcome: isDelivered ? "Delivered" : "Failed",
      failures: isDelivered ? 0 : (run?.failures ?? 0) + 1,
      hadSuccess: isDelivered || (run?.hadSuccess ?? false),
    });
  }
  return [...runs.values()];
};

const toEndpointHours = (endedAttempts: readonly EndedAttempt[]): EndpointHour[] => {
  const hours = new Map<string, EndpointHour>();
  for (const { endpointId, endedAt, outcome } of endedAttempts) {
    const hour = startOfHour(endedAt);
    const key = `${endpointId} ${hour.getTime()}`;
    const { delivered, failed } = hours.get(key) ?? { delivered: 0, failed: 0 };
    const isDelivered = outcome.kind === "delivered";
    hours.set(key, {
      endpointId,
      hour,
      delivered: delivered + (isDelivered ? 1 : 0),
      failed: failed + (isDelivered ? 0 : 1),
    });
  }
  return [...hours.values()];
};
