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
import { endsWithin } from "./ends-within.ts";
import { markRecord } from "./marks.ts";
import { type Candidate, type Lead, createCandidate } from "./relay-lead.ts";
import { type RelayMetrics, createRelayMetrics } from "./relay-metrics.ts";
import { retryMs } from "./retry-at.ts";
import { linksTo } from "./trace-links.ts";

/** Carries events from the outbox to the bus. */
export type Relay = {
  /** Tells that a transaction with events has just been committed. */
  wake(): void;
  /** Sends what can still be sent within seconds, and hands the lead over. Never hangs. */
  stop(): Promise<void>;
};

export type RelayOptions = {
  /** The service's own role, on a direct connection, because it holds a session's lock. */
  databaseUrl: string;
  bus: Bus;
  /** The service's name: the `ce_source` of its events. */
  service: string;
  metrics: Metrics;
  log: Log;
  clock?: Clock;
  /** Topics in which it says each minute that everything committed until then lies before. */
  markedTopics?: readonly string[];
};

const claimRowsMax = 500;
const standbyMs = 1_000;
const measureEveryMs = 5_000;
/**
 * Under load, when a claim holds more than a few rows, the next one waits this long and so carries
 * more. A lone event never waits. Real time, not the clock's.
 */
const lingerMs = 20;
const lingerRowsMin = 5;
/** A leader that was cut off may have begun its last send just after it lost the lock. */
const takeoverSlackMs = 1_000;
const lastFlushMs = 5_000;
const markEveryMs = 60_000;

type Row = StoredEvent & { seq: string };

/**
 * Starts the relay of one service's schema. Only one of the running relays leads. It reads the
 * unsent events in order, publishes them as one batch and deletes exactly those that were
 * acknowledged, a few of them only with its next look. There is no cursor, so a row whose
 * transaction commits late is never skipped. After a failure the whole claim is sent again:
 * consumers know repeats by their id.
 */
export const createRelay = (options: RelayOptions): Relay => {
  const { bus, log, service } = options;
  const clock = options.clock ?? systemClock;
  const candidate = createCandidate({
    databaseUrl: options.databaseUrl,
    applicationName: `${service} relay`,
    log,
    told: () => loop.wake(),
    looked: (oldestAt) => {
      state.hasUnsent = oldestAt !== undefined;
      metrics.looked(oldestAt);
    },
  });
  const metrics = createRelayMetrics(options.metrics, clock);
  const state: RelayState = {
    failures: 0,
    measuredAtMs: -Infinity,
    restUntilMs: clock.elapsedMs(),
    markedAtMs: -Infinity,
    hasCommitted: false,
    hasUnsent: false,
    lead: undefined,
    sentSeqs: [],
  };
  const { markedTopics = [] } = options;
  const relay: RelayParts = { bus, candidate, clock, log, markedTopics, metrics, service, state };

  const loop: Loop = startLoop({
    name: "outbox relay",
    clock,
    log,
    waitMs: bus.pollMs,
    run: () => step(relay),
  });
  let stopped: Promise<void> | undefined;
  return {
    wake: () => {
      state.hasCommitted = true;
      loop.wake();
    },
    stop: () => (stopped ??= stop(relay, loop)),
  };
};

type RelayState = {
  failures: number;
  /** When it was last counted how much is unsent, by the clock's elapsed time. */
  measuredAtMs: number;
  /** Neither a poll nor a wake sends before this, by the clock's elapsed time. */
  restUntilMs: number;
  /** When the last marks were sent, by the clock's elapsed time. */
  markedAtMs: number;
  /** Whether this process has committed events that the leader may not know of. */
  hasCommitted: boolean;
  /** Whether an event waited when this relay last tried for the lead. */
  hasUnsent: boolean;
  lead: Lead | undefined;
  /** The few rows that were acknowledged last: they go with the next look for others. */
  sentSeqs: readonly string[];
};

type RelayParts = {
  bus: Bus;
  candidate: Candidate;
  clock: Clock;
  log: Log;
  markedTopics: readonly string[];
  metrics: RelayMetrics;
  service: string;
  state: RelayState;
};

/**
 * One turn: be or become the leader and send one claim. Answers whether there is more, or when to
 * look again.
 */
const step = async (relay: RelayParts): Promise<boolean | Date | void> => {
  const { bus, candidate, clock, log, metrics, state } = relay;
  const rest = (waitMs: number): Date => {
    state.restUntilMs = clock.elapsedMs() + waitMs;
    return afterMs(clock, waitMs);
  };
  if (state.hasCommitted) await tellLeader(relay);
  const restMs = state.restUntilMs - clock.elapsedMs();
  if (restMs > 0) return afterMs(clock, restMs);
  try {
    const lead = await candidate.take();
    const isNew = lead !== state.lead;
    state.lead = lead;
    // Another connection may be to another primary, which gives the same numbers to other events.
    if (isNew) state.sentSeqs = [];
    if (lead === undefined) {
      if (state.hasUnsent) await measure(relay);
      return rest(standbyMs);
    }
    if (isNew) log.info({ isHandedOver: lead.isHandedOver }, "this relay leads");
    if (isNew && !lead.isHandedOver && bus.sendTimeoutMs > 0) {
      return rest(bus.sendTimeoutMs + takeoverSlackMs);
    }
    const lookedAt = clock.now();
    const sentCount = await sendClaim(relay, lead.client);
    if (sentCount < claimRowsMax) await sendMarks(relay, lookedAt);
    state.failures = 0;
    if (sentCount === claimRowsMax) return true;
    if (sentCount >= lingerRowsMin) await setTimeout(lingerMs);
    return;
  } catch (error) {
    state.failures += 1;
    metrics.failed();
    log.warn({ err: error, failures: state.failures }, "events could not be sent; they wait");
    await measure(relay);
    return rest(retryMs(state.failures));
  }
};

/** A leader needs no telling, and one that cannot be told looks by itself before long. */
const tellLeader = async ({ candidate, log, state }: RelayParts): Promise<void> => {
  state.hasCommitted = false;
  if (state.lead !== undefined) return;
  try {
    await candidate.tellLeader();
  } catch (error) {
    log.warn({ err: error }, "the leading relay could not be told of events; it looks by itself");
  }
};

/**
 * One look at the outbox, which deletes the few rows that were acknowledged before, and one publish;
 * more than a few are deleted behind it at once. Answers how many events were sent.
 */
const sendClaim = async (relay: RelayParts, client: Client): Promise<number> => {
  const { bus, candidate, metrics, service, state } = relay;
  const isFirst = state.sentSeqs.length === 0;
  const look = isFirst ? selectUnsent : { ...deleteSentAndSelect, values: [state.sentSeqs] };
  const rows = await candidate.query<Row>(client, look);
  state.sentSeqs = [];
  metrics.found(rows, rows.length < claimRowsMax);
  if (rows.length === 0) return 0;
  const records = rows.map((row) => toRecord(row, service));
  await traceSend(rows, () => bus.publish(records));
  state.sentSeqs = rows.map((row) => row.seq);
  if (rows.length >= lingerRowsMin) await deleteSent(relay, client);
  metrics.sent(rows.length);
  if (rows.length === claimRowsMax) await measure(relay);
  else metrics.found([], true);
  return rows.length;
};

/** All that was committed when the outbox was looked at has been sent, as one claim held it all. */
const sendMarks = async (relay: RelayParts, lookedAt: Date): Promise<void> => {
  const { bus, clock, markedTopics, service, state } = relay;
  if (markedTopics.length === 0 || clock.elapsedMs() - state.markedAtMs < markEveryMs) return;
  await bus.publish(markedTopics.map((topic) => markRecord(topic, service, lookedAt)));
  state.markedAtMs = clock.elapsedMs();
};

const deleteSent = async ({ candidate, state }: RelayParts, client: Client): Promise<void> => {
  if (state.sentSeqs.length === 0) return;
  await candidate.query(client, { ...deleteRows, values: [state.sentSeqs] });
  state.sentSeqs = [];
};

const deleteRows = {
  name: "delete-sent",
  text: "DELETE FROM outbox WHERE seq = ANY($1::bigint[])",
};

const columns = `seq, id, topic, key, type, occurred_at AS "occurredAt", traceparent, value`;

const selectUnsent = {
  name: "select-unsent",
  text: `SELECT ${columns} FROM outbox ORDER BY seq LIMIT ${claimRowsMax}`,
};

/** A statement does not see what it deletes itself as deleted. */
const deleteSentAndSelect = {
  name: "delete-sent-and-select",
  text: `
    WITH deleted AS (${deleteRows.text})
    SELECT ${columns} FROM outbox WHERE seq <> ALL($1::bigint[]) ORDER BY seq LIMIT ${claimRowsMax}
  `,
};

/** The span of a send, linked to the traces of its events; none if nothing is traced. */
const traceSend = async (rows: readonly Row[], send: () => Promise<void>): Promise<void> => {
  const links = linksTo(rows.map(({ traceparent }) => traceparent));
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
 * Counts at most every five seconds how much is unsent. Followers count too, so their metrics show a
 * leader that hangs; since when, they see each time they try for the lead. The count stops at a bound
 * that alarms anyway.
 */
const measure = async ({ candidate, clock, log, metrics, state }: RelayParts): Promise<void> => {
  const nowMs = clock.elapsedMs();
  const client = candidate.client();
  if (client === undefined || nowMs - state.measuredAtMs < measureEveryMs) return;
  state.measuredAtMs = nowMs;
  try {
    const [found] = await candidate.query<Measure>(client, selectMeasure);
    if (found !== undefined) metrics.measured(found.unsentCount, found.oldestAt ?? undefined);
  } catch (error) {
    log.warn({ err: error }, "the outbox could not be measured");
  }
};

type Measure = { oldestAt: Date | null; unsentCount: number };

const selectMeasure = {
  text: `
    SELECT (SELECT occurred_at FROM outbox ORDER BY seq LIMIT 1) AS "oldestAt",
      (SELECT count(*)::int FROM (SELECT FROM outbox LIMIT 10000) AS counted) AS "unsentCount"
  `,
};

const stop = async (relay: RelayParts, loop: Loop): Promise<void> => {
  const { bus, candidate, clock, log, metrics, state } = relay;
  const isEnded = await endsWithin(loop.stop(), bus.sendTimeoutMs + lastFlushMs);
  const isFlushed = isEnded && (await endsWithin(flush(relay), lastFlushMs));
  if (!isFlushed) log.warn("the relay stops with events unsent; they stay in the outbox");
  metrics.stopped();
  // While it rests, its own send has just failed, or the dead leader's may still be under way.
  const isClean = isFlushed && clock.elapsedMs() >= state.restUntilMs;
  state.lead = undefined;
  await candidate.leave(isClean).catch((error: unknown) => {
    log.warn({ err: error }, "the relay could not hand its lead over");
  });
};

const flush = async (relay: RelayParts): Promise<void> => {
  const client = relay.state.lead?.client;
  if (client === undefined || client !== relay.candidate.client()) return;
  if (relay.clock.elapsedMs() < relay.state.restUntilMs) return;
  try {
    while ((await sendClaim(relay, client)) === claimRowsMax);
    await deleteSent(relay, client);
  } catch (error) {
    relay.state.restUntilMs = relay.clock.elapsedMs() + retryMs(1);
    relay.log.warn({ err: error }, "the last events could not be sent; they stay in the outbox");
  }
};
