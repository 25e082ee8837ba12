import { setTimeout } from "node:timers/promises";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Client } from "pg";
import {
  type Clock,
  type Log,
  type Loop,
  type Metrics,
  afterMs,
  startLoop,
  systemClock,
  tracer,
} from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { type StoredEvent, toRecord } from "./cloud-event.ts";
import { settlesWithin } from "./settles-within.ts";
import { createWatermarkRecord } from "./watermarks.ts";
import { type Candidate, type Leadership, createCandidate } from "./relay-leadership.ts";
import { type RelayMetrics, createRelayMetrics } from "./relay-metrics.ts";
import { retryMs } from "./retry-at.ts";
import { createSpanLinks } from "./span-links.ts";

/** Sends events from the outbox to the bus. */
export type Relay = {
  /** Signals that a transaction with events has just been committed. */
  wake(): void;
  /**
   * Sends the remaining events within a few seconds, if possible, and releases the leadership.
   * Always completes.
   */
  stop(): Promise<void>;
};

export type RelayOptions = {
  /**
   * The URL of the service's own role. It must be a direct connection, because the relay holds a
   * session lock.
   */
  databaseUrl: string;
  bus: Bus;
  /** The service's name: the `ce_source` of its events. */
  service: string;
  metrics: Metrics;
  log: Log;
  clock?: Clock;
  /**
   * Topics that receive a watermark each minute. Everything committed before the watermark precedes
   * it in the log.
   */
  watermarkTopics?: readonly string[];
};

const batchRowsMax = 500;
const standbyPollMs = 1_000;
const measureIntervalMs = 5_000;
/**
 * If a batch holds more than a few rows, the relay waits this long before the next batch, to
 * collect more rows. A single event never waits. The wait uses real time instead of the injected
 * clock.
 */
const lingerMs = 20;
const lingerRowsMin = 5;
/**
 * Added to the send timeout on a takeover, because a disconnected leader may have started its last
 * send just after it lost the lock.
 */
const takeoverMarginMs = 1_000;
const finalFlushTimeoutMs = 5_000;
const watermarkIntervalMs = 60_000;

type UnsentRow = StoredEvent & { seq: string };

/**
 * Starts the relay of one service's schema. Only one of the running relays leads. The leader reads
 * the unsent events in order, publishes them as one batch and deletes exactly the acknowledged
 * ones; a small batch is deleted with the next read.
 *
 * There is no cursor, so a row whose transaction commits late is never skipped. After a failure the
 * whole batch is sent again, and consumers skip duplicates.
 */
export const createRelay = (options: RelayOptions): Relay => {
  const { bus, log, service } = options;
  const clock = options.clock ?? systemClock;
  const candidate = createCandidate({
    databaseUrl: options.databaseUrl,
    applicationName: `${service} relay`,
    log,
    onNotification: () => loop.wake(),
    onOutboxChecked: (oldestAt) => {
      state.hasUnsent = oldestAt !== undefined;
      metrics.recordOldestEvent(oldestAt);
    },
  });
  const metrics = createRelayMetrics(options.metrics, clock);
  const state: RelayState = {
    failures: 0,
    measuredAtMs: -Infinity,
    pausedUntilMs: clock.elapsedMs(),
    watermarksSentAtMs: -Infinity,
    hasUnannouncedEvents: false,
    hasUnsent: false,
    leadership: undefined,
    acknowledgedSeqs: [],
  };
  const { watermarkTopics = [] } = options;
  const context: RelayContext = {
    bus,
    candidate,
    clock,
    log,
    watermarkTopics,
    metrics,
    service,
    state,
  };

  const loop: Loop = startLoop({
    name: "outbox relay",
    clock,
    log,
    waitMs: bus.pollMs,
    run: () => runRelayStep(context),
  });
  let stopPromise: Promise<void> | undefined;
  return {
    wake: () => {
      state.hasUnannouncedEvents = true;
      loop.wake();
    },
    stop: () => (stopPromise ??= stopRelay(context, loop)),
  };
};

type RelayState = {
  failures: number;
  /** When the unsent rows were last counted, in the clock's elapsed time. */
  measuredAtMs: number;
  /** Polls and wake-ups do not trigger a send before this time, in the clock's elapsed time. */
  pausedUntilMs: number;
  /** When the last watermarks were sent, in the clock's elapsed time. */
  watermarksSentAtMs: number;
  /** Whether this process has committed events that the leader may not know of. */
  hasUnannouncedEvents: boolean;
  /** Whether events were unsent at this relay's last attempt to acquire leadership. */
  hasUnsent: boolean;
  leadership: Leadership | undefined;
  /** The rows of the last small batch: acknowledged, and deleted with the next read. */
  acknowledgedSeqs: readonly string[];
};

type RelayContext = {
  bus: Bus;
  candidate: Candidate;
  clock: Clock;
  log: Log;
  watermarkTopics: readonly string[];
  metrics: RelayMetrics;
  service: string;
  state: RelayState;
};

/**
 * Runs one iteration: tries to acquire leadership and sends one batch. Returns true if there is
 * more to send, or otherwise the time of the next attempt.
 */
const runRelayStep = async (context: RelayContext): Promise<boolean | Date | void> => {
  const { bus, candidate, clock, log, metrics, state } = context;
  const pauseFor = (waitMs: number): Date => {
    state.pausedUntilMs = clock.elapsedMs() + waitMs;
    return afterMs(clock, waitMs);
  };
  if (state.hasUnannouncedEvents) await notifyLeader(context);
  const remainingPauseMs = state.pausedUntilMs - clock.elapsedMs();
  if (remainingPauseMs > 0) return afterMs(clock, remainingPauseMs);
  try {
    const leadership = await candidate.tryAcquire();
    const isNewLeadership = leadership !== state.leadership;
    state.leadership = leadership;
    // A new connection may lead to another primary, which can reuse the same numbers for other
    // events.
    if (isNewLeadership) state.acknowledgedSeqs = [];
    if (leadership === undefined) {
      if (state.hasUnsent) await measureOutbox(context);
      return pauseFor(standbyPollMs);
    }
    if (isNewLeadership)
      log.info({ isHandedOver: leadership.isHandedOver }, "relay became the leader");
    if (isNewLeadership && !leadership.isHandedOver && bus.sendTimeoutMs > 0) {
      return pauseFor(bus.sendTimeoutMs + takeoverMarginMs);
    }
    const checkedAt = clock.now();
    const sentCount = await sendBatch(context, leadership.client);
    if (sentCount < batchRowsMax) await sendWatermarks(context, checkedAt);
    state.failures = 0;
    if (sentCount === batchRowsMax) return true;
    if (sentCount >= lingerRowsMin) await setTimeout(lingerMs);
    return;
  } catch (error) {
    state.failures += 1;
    metrics.recordFailure();
    log.warn({ err: error, failures: state.failures }, "events could not be sent, retrying");
    await measureOutbox(context);
    return pauseFor(retryMs(state.failures));
  }
};

/**
 * Notifies the leader, unless this relay leads. If that fails, the leader finds the events by
 * polling.
 */
const notifyLeader = async ({ candidate, log, state }: RelayContext): Promise<void> => {
  state.hasUnannouncedEvents = false;
  if (state.leadership !== undefined) return;
  try {
    await candidate.notifyLeader();
  } catch (error) {
    log.warn({ err: error }, "leading relay could not be notified, it will poll for new events");
  }
};

/**
 * Reads the outbox once and publishes one batch. The read also deletes the previous small batch; a
 * larger batch is deleted immediately. Returns the number of events sent.
 */
const sendBatch = async (context: RelayContext, client: Client): Promise<number> => {
  const { bus, candidate, metrics, service, state } = context;
  const isFirstBatch = state.acknowledgedSeqs.length === 0;
  const query = isFirstBatch
    ? selectUnsentQuery
    : { ...deleteAcknowledgedAndSelectQuery, values: [state.acknowledgedSeqs] };
  const rows = await candidate.query<UnsentRow>(client, query);
  state.acknowledgedSeqs = [];
  metrics.recordUnsentRows(rows, rows.length < batchRowsMax);
  if (rows.length === 0) return 0;
  const records = rows.map((row) => toRecord(row, service));
  await sendInSpan(rows, () => bus.publish(records));
  state.acknowledgedSeqs = rows.map((row) => row.seq);
  if (rows.length >= lingerRowsMin) await deleteAcknowledged(context, client);
  metrics.recordSent(rows.length);
  if (rows.length === batchRowsMax) await measureOutbox(context);
  else metrics.recordUnsentRows([], true);
  return rows.length;
};

/**
 * Sends watermarks. The last batch contained the whole outbox, so everything committed before
 * `checkedAt` has been sent.
 */
const sendWatermarks = async (context: RelayContext, checkedAt: Date): Promise<void> => {
  const { bus, clock, watermarkTopics, service, state } = context;
  if (
    watermarkTopics.length === 0 ||
    clock.elapsedMs() - state.watermarksSentAtMs < watermarkIntervalMs
  )
    return;
  await bus.publish(
    watermarkTopics.map((topic) => createWatermarkRecord(topic, service, checkedAt)),
  );
  state.watermarksSentAtMs = clock.elapsedMs();
};

const deleteAcknowledged = async (
  { candidate, state }: RelayContext,
  client: Client,
): Promise<void> => {
  if (state.acknowledgedSeqs.length === 0) return;
  await candidate.query(client, { ...deleteAcknowledgedQuery, values: [state.acknowledgedSeqs] });
  state.acknowledgedSeqs = [];
};

const deleteAcknowledgedQuery = {
  name: "delete-sent",
  text: "DELETE FROM outbox WHERE seq = ANY($1::bigint[])",
};

const columns = `seq, id, topic, key, type, occurred_at AS "occurredAt", traceparent, value`;

const selectUnsentQuery = {
  name: "select-unsent",
  text: `SELECT ${columns} FROM outbox ORDER BY seq LIMIT ${batchRowsMax}`,
};

/** The explicit filter is needed: a statement still sees the rows that it deletes. */
const deleteAcknowledgedAndSelectQuery = {
  name: "delete-sent-and-select",
  text: `
    WITH deleted AS (${deleteAcknowledgedQuery.text})
    SELECT ${columns} FROM outbox WHERE seq <> ALL($1::bigint[]) ORDER BY seq LIMIT ${batchRowsMax}
  `,
};

/** Sends in a span that links to the traces of the events; without traces there is no span. */
const sendInSpan = async (rows: readonly UnsentRow[], send: () => Promise<void>): Promise<void> => {
  const links = createSpanLinks(rows.map(({ traceparent }) => traceparent));
  if (links.length === 0) return send();
  const span = tracer.startSpan("send outbox", {
    kind: SpanKind.PRODUCER,
    links,
    attributes: {
      "messaging.operation.type": "send",
      "messaging.batch.message_count": rows.length,
      "messaging.destination.name": rows[0]?.topic ?? "",
    },
  });
  try {
    await send();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};

/**
 * Counts the unsent rows, at most every five seconds. Standby relays count them too, so their
 * metrics reveal a leader that hangs. They also read the age of the oldest row on each attempt to
 * acquire leadership. The count stops at a limit that triggers an alert anyway.
 */
const measureOutbox = async ({
  candidate,
  clock,
  log,
  metrics,
  state,
}: RelayContext): Promise<void> => {
  const nowMs = clock.elapsedMs();
  const client = candidate.client();
  if (client === undefined || nowMs - state.measuredAtMs < measureIntervalMs) return;
  state.measuredAtMs = nowMs;
  try {
    const [measurement] = await candidate.query<OutboxMeasurement>(client, selectMeasurementQuery);
    if (measurement !== undefined)
      metrics.recordMeasurement(measurement.unsentCount, measurement.oldestAt ?? undefined);
  } catch (error) {
    log.warn({ err: error }, "outbox could not be measured");
  }
};

type OutboxMeasurement = { oldestAt: Date | null; unsentCount: number };

const selectMeasurementQuery = {
  text: `
    SELECT (SELECT occurred_at FROM outbox ORDER BY seq LIMIT 1) AS "oldestAt",
      (SELECT count(*)::int FROM (SELECT FROM outbox LIMIT 10000) AS counted) AS "unsentCount"
  `,
};

const stopRelay = async (context: RelayContext, loop: Loop): Promise<void> => {
  const { bus, candidate, clock, log, metrics, state } = context;
  const hasLoopStopped = await settlesWithin(loop.stop(), bus.sendTimeoutMs + finalFlushTimeoutMs);
  const hasFlushed =
    hasLoopStopped && (await settlesWithin(flushOutbox(context), finalFlushTimeoutMs));
  if (!hasFlushed) log.warn("relay stopped with unsent events in the outbox");
  metrics.reset();
  // During a pause, the last send of this relay or of a dead leader may still be in flight.
  const isCleanStop = hasFlushed && clock.elapsedMs() >= state.pausedUntilMs;
  state.leadership = undefined;
  await candidate.resign(isCleanStop).catch((error: unknown) => {
    log.warn({ err: error }, "relay could not hand over its leadership");
  });
};

const flushOutbox = async (context: RelayContext): Promise<void> => {
  const client = context.state.leadership?.client;
  if (client === undefined || client !== context.candidate.client()) return;
  if (context.clock.elapsedMs() < context.state.pausedUntilMs) return;
  try {
    while ((await sendBatch(context, client)) === batchRowsMax);
    await deleteAcknowledged(context, client);
  } catch (error) {
    context.state.pausedUntilMs = context.clock.elapsedMs() + retryMs(1);
    context.log.warn({ err: error }, "last events could not be sent, they stay in the outbox");
  }
};
