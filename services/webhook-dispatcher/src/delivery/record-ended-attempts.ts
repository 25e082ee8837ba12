import type { Transaction } from "@payment-links/postgres";
import { type EndpointHour, startOfHour } from "../domain/endpoint-hour.ts";
import { type RetrySchedule, computeNextAttemptAt } from "../domain/retry-schedule.ts";
import { type AttemptResult, recordResults } from "../store/ended-deliveries.ts";
import { type OutcomeRun, recordOutcomes } from "../store/endpoints.ts";
import type { AttemptOutcome } from "./attempt/attempt-outcome.ts";

/**
 * An ended attempt. It is recorded by the process that made it, or by another one if its lease
 * expired.
 */
export type EndedAttempt = {
  deliveryId: string;
  eventId: string;
  endpointId: string;
  /** The time of its event. */
  occurredAt: Date;
  /** The number of the attempt. */
  attempts: number;
  startedAt: Date;
  endedAt: Date;
  /** Null if the duration is unknown. */
  durationMs: number | null;
  leaseUntil: Date;
  outcome: AttemptOutcome;
};

type RetryOptions = {
  schedule: RetrySchedule;
  /** Returns a number from 0 to 1 that spreads out the retries of attempts that failed together. */
  random: () => number;
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
  const attemptResults = endedAttempts.map((entry) => ({
    ended: entry,
    result: toAttemptResult(entry, retryOptions),
  }));
  const { locked, superseded } = await recordResults(
    tx,
    attemptResults.map(({ result }) => result),
  );
  const countedAttempts = attemptResults
    .filter(({ result }) => !locked.has(result) && !superseded.has(result))
    .map((entry) => entry.ended);
  await recordOutcomes(tx, {
    runs: toOutcomeRuns(countedAttempts),
    hours: toEndpointHours(countedAttempts),
  });
  return attemptResults.filter(({ result }) => locked.has(result)).map((entry) => entry.ended);
};

const toAttemptResult = (
  ended: EndedAttempt,
  { schedule, random }: RetryOptions,
): AttemptResult => {
  const { deliveryId: id, eventId, endpointId, occurredAt, outcome } = ended;
  const { attempts, startedAt, endedAt, durationMs } = ended;
  const isDelivered = outcome.kind === "delivered";
  const { httpStatus, error } = outcome;
  const failedAttempt = { attempts, endedAt, random: random() };
  const nextAttemptAt = isDelivered ? null : computeNextAttemptAt(schedule, failedAttempt);
  const logKey = { eventId, endpointId, occurredAt };
  const attemptFields = { attempts, startedAt, durationMs };
  return { ...logKey, ...attemptFields, id, isDelivered, httpStatus, error, nextAttemptAt };
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
