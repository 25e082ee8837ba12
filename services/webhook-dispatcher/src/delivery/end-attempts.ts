import type { Transaction } from "@payment-links/postgres";
import { type EndpointHour, hourOf } from "../domain/endpoint-hour.ts";
import { type RetrySchedule, nextAttemptAfter } from "../domain/retry-schedule.ts";
import { type AttemptResult, recordResults } from "../store/ended-deliveries.ts";
import { type OutcomeRun, recordOutcomes } from "../store/endpoints.ts";
import type { AttemptOutcome } from "./attempt/attempt-outcome.ts";

/** An attempt that has ended, whoever noticed it. */
export type EndedAttempt = {
  deliveryId: string;
  eventId: string;
  endpointId: string;
  /** When its event occurred. */
  occurredAt: Date;
  /** The attempt's number. */
  attempts: number;
  startedAt: Date;
  endedAt: Date;
  /** Null where nobody saw how long it took. */
  durationMs: number | null;
  leaseUntil: Date;
  outcome: AttemptOutcome;
};

type Spread = {
  schedule: RetrySchedule;
  /** From 0 to 1: spreads out the retries of attempts that failed together. */
  random: () => number;
};

/**
 * Writes how attempts ended, when each is tried again, and what that says of their endpoints. Answers
 * those whose deliveries somebody else is changing just now, to be told again.
 */
export const endAttempts = async (
  tx: Transaction,
  ended: readonly EndedAttempt[],
  spread: Spread,
): Promise<readonly EndedAttempt[]> => {
  const told = ended.map((one) => ({ ended: one, result: resultOf(one, spread) }));
  const { held, known } = await recordResults(
    tx,
    told.map(({ result }) => result),
  );
  const counted = told
    .filter(({ result }) => !held.has(result) && !known.has(result))
    .map((one) => one.ended);
  await recordOutcomes(tx, { runs: runsOf(counted), hours: hoursOf(counted) });
  return told.filter(({ result }) => held.has(result)).map((one) => one.ended);
};

const resultOf = (ended: EndedAttempt, { schedule, random }: Spread): AttemptResult => {
  const { deliveryId: id, eventId, endpointId, occurredAt, outcome } = ended;
  const { attempts, startedAt, endedAt, durationMs } = ended;
  const isDelivered = outcome.kind === "delivered";
  const { httpStatus, error } = outcome;
  const failed = { attempts, endedAt, random: random() };
  const nextAttemptAt = isDelivered ? null : nextAttemptAfter(schedule, failed);
  const place = { eventId, endpointId, occurredAt };
  const attempt = { attempts, startedAt, durationMs };
  return { ...place, ...attempt, id, isDelivered, httpStatus, error, nextAttemptAt };
};

const runsOf = (ended: readonly EndedAttempt[]): OutcomeRun[] => {
  const runs = new Map<string, OutcomeRun>();
  for (const { endpointId, outcome } of ended) {
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

const hoursOf = (ended: readonly EndedAttempt[]): EndpointHour[] => {
  const hours = new Map<string, EndpointHour>();
  for (const { endpointId, endedAt, outcome } of ended) {
    const hour = hourOf(endedAt);
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
