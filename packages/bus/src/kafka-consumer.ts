import type { Consumer, EachBatchPayload, IHeaders, KafkaMessage } from "kafkajs";
import type { Counter, Gauge } from "prom-client";
import { type Metrics, afterMs, systemClock } from "@payment-links/runtime";
import type { BatchHandler, PositionStore, ReceivedRecord, Subscription } from "./bus.ts";
import { type ConsumerPulse, createConsumerPulse } from "./consumer-pulse.ts";
import { endsWithin } from "./ends-within.ts";
import { handOver } from "./hand-over.ts";
import { type KafkaConnection, openKafka } from "./kafka-client.ts";
import { type KafkaCommits, createKafkaCommits } from "./kafka-commits.ts";
import { type KafkaPlaces, followPositions } from "./kafka-places.ts";
import { counter, gauge } from "./metrics.ts";
import { retryAt } from "./retry-at.ts";

/** What a member of a group is made of. */
export type KafkaConsumerOptions = KafkaConnection & {
  metrics: Metrics;
  /** How long it may give no sign of life before it is replaced; 60 s by default. */
  silenceMsMax?: number;
  /** How often it is looked whether the group's positions are where it left them; 60 s by default. */
  positionsEveryMs?: number;
  group: string;
  topics: readonly string[];
  handle: BatchHandler;
  /** Where it begins at each join; without them Kafka's own offsets say so. */
  positions?: PositionStore;
  /** How long after a batch was begun the next fetch may be, at the soonest. */
  restMs?: number;
};

/** A member of a group over Kafka. */
export type KafkaSubscription = Subscription & {
  group: string;
  /** Whether it gives no sign of life although the broker does: the process should start anew. */
  isStalled(): boolean;
};

const sessionTimeoutMs = 15_000;
const heartbeatMs = 2_000;
/**
 * A fetch answers as soon as there is a record. This bounds how long a stop waits for it, and by how much a
 * member hears later that its group joins anew. Each fetch wakes an idle process: with half of this
 * and of the relay's poll, a set at rest took half as much processor again.
 */
const fetchWaitMs = 1_000;
/** All that a fetch brings is handed over at once, as what comes together is applied together. */
const partitionsAtOnceMax = 64;
const silenceMsMaxDefault = 60_000;
const positionsEveryMsDefault = 60_000;
/** How often a consumer is checked within the time for which it may be silent. */
const looksPerSilence = 12;
const stopTimeoutMs = 20_000;
/**
 * Only a few: a longer failure is a crash, and after a crash the consumer is tried again for ever.
 */
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 };

/** What the running consumer and its batches share. */
type Parts = {
  options: KafkaConsumerOptions;
  stopping: AbortController;
  batches: Set<AbortController>;
  /** By the clock's `elapsedMs`. */
  lastSignAtMs: number;
  silenceMsMax: number;
  pulse: ConsumerPulse;
  fetched: Gauge;
  resets: Counter;
  commitFailures: Counter;
};

/**
 * Joins a group and hands its records over until it is stopped. A kafkajs consumer that crashes or
 * falls silent is replaced by a fresh one after a growing wait, however often that takes.
 */
export const createKafkaConsumer = (options: KafkaConsumerOptions): KafkaSubscription => {
  const { group, log, silenceMsMax = silenceMsMaxDefault } = options;
  const parts: Parts = {
    options,
    stopping: new AbortController(),
    batches: new Set(),
    lastSignAtMs: 0,
    silenceMsMax,
    pulse: createConsumerPulse({ silenceMsMax }),
    fetched: gauge(options.metrics, {
      name: "payment_links_bus_consumer_last_fetch_timestamp_seconds",
      help: "When a consumer last asked the broker for records and was answered, also with none.",
      labelNames: ["group"],
    }),
    resets: counter(options.metrics, {
      name: "payment_links_bus_positions_reset_total",
      help: "Partitions whose log did not have what comes next: read again from their beginning.",
      labelNames: ["group", "reason"],
    }),
    commitFailures: counter(options.metrics, {
      name: "payment_links_bus_offset_commit_failures_total",
      help: "Commits of a group's offsets that failed and are tried again.",
      labelNames: ["group"],
    }),
  };
  // A consumer that never comes so far has stopped as well.
  parts.fetched.set({ group }, systemClock.now().getTime() / 1_000);
  const crashes = counter(options.metrics, {
    name: "payment_links_bus_consumer_crashes_total",
    help: "Consumers that crashed or fell silent and were replaced.",
    labelNames: ["group"],
  });
  const ended = supervise(parts, crashes);
  const asking = askWhileSilent(parts);
  return {
    group,
    isStalled: () => !parts.stopping.signal.aborted && parts.pulse.isStalled(),
    stop: async () => {
      clearInterval(asking);
      parts.stopping.abort();
      for (const batch of parts.batches) batch.abort();
      if (!(await endsWithin(ended, stopTimeoutMs))) {
        log.warn({ group }, "a consumer did not stop in time; it is left behind");
      }
    },
  };
};

const supervise = async (parts: Parts, crashes: Counter): Promise<void> => {
  const { options, pulse, silenceMsMax, stopping } = parts;
  const { group, log } = options;
  let failures = 0;
  while (!stopping.signal.aborted) {
    const startedAtMs = systemClock.elapsedMs();
    const { error, isSilence = false } = await runOnce(parts);
    if (error === undefined || stopping.signal.aborted) return;
    // An error is a sign of life: a fresh process could do no more than this one does.
    if (!isSilence) pulse.beat();
    crashes.inc({ group });
    if (systemClock.elapsedMs() - startedAtMs > silenceMsMax) failures = 0;
    failures += 1;
    const told = { err: error, group, failures };
    if (isRefused(error)) log.error(told, "Kafka refuses a consumer; it is tried again");
    else log.warn(told, "a consumer crashed; another takes its place");
    await systemClock.until(retryAt(systemClock, failures), stopping.signal);
  }
};

/**
 * Asks the brokers for metadata while the consumer is silent, on a connection of its own. That
 * tells a consumer that hangs from brokers that are away.
 */
const askWhileSilent = ({ options, pulse, silenceMsMax }: Parts): NodeJS.Timeout => {
  let isAsking = false;
  const ask = async () => {
    const admin = openKafka(options, { retry: { retries: 0 } }).admin();
    try {
      await admin.connect();
      await admin.describeCluster();
      pulse.brokerAnswered();
    } catch (error) {
      pulse.brokerFailed();
      options.log.debug({ err: error }, "the brokers were asked for metadata and did not answer");
    } finally {
      await endsWithin(admin.disconnect(), stopTimeoutMs);
      isAsking = false;
    }
  };
  return setInterval(() => {
    if (isAsking || pulse.silentMs() < silenceMsMax / 2) return;
    isAsking = true;
    void ask();
  }, silenceMsMax / looksPerSilence);
};

type Crash = { error?: Error; isSilence?: boolean };

const crashOf = (error: unknown): Crash => ({
  error: error instanceof Error ? error : new Error("kafkajs threw no error"),
});

/** Runs one kafkajs consumer until it crashes, falls silent or must stop. */
const runOnce = async (parts: Parts): Promise<Crash> => {
  const { options, stopping } = parts;
  const { promise: crashed, resolve: crash } = Promise.withResolvers<Crash>();
  const consumer = openKafka(options, { retry }).consumer({
    groupId: options.group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs,
    maxWaitTimeInMs: fetchWaitMs,
    allowAutoTopicCreation: false,
    retry: { ...retry, restartOnFailure: async () => false },
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => crash({ error: payload.error }));
  const givenUp = new AbortController();
  const giveUp = () => crash({});
  stopping.signal.addEventListener("abort", giveUp, { once: true });
  const watch = watchForSilence(parts, consumer, crash);
  const commits = followCommits(parts, consumer, crash);
  try {
    await consumer.connect();
    if (!stopping.signal.aborted) await join(parts, { consumer, commits }, givenUp.signal);
    return await crashed;
  } catch (error) {
    return crashOf(error);
  } finally {
    clearInterval(watch);
    givenUp.abort();
    stopping.signal.removeEventListener("abort", giveUp);
    commits.end();
    // Sent before the member can leave. Batches under way commit by themselves, and are waited for.
    if (stopping.signal.aborted) void commits.flush();
    await endsWithin(consumer.disconnect(), stopTimeoutMs);
  }
};

/**
 * Ends once the group is joined: kafkajs loses track of a consumer that is stopped while it joins.
 */
const join = async (
  parts: Parts,
  { consumer, commits }: { consumer: Consumer; commits: KafkaCommits },
  signal: AbortSignal,
): Promise<void> => {
  const { options, resets } = parts;
  const { group, positions, positionsEveryMs = positionsEveryMsDefault, topics } = options;
  const places =
    positions &&
    followPositions({
      connection: options,
      group,
      consumer,
      positions,
      resets,
      lookEveryMs: positionsEveryMs,
      signal,
    });
  await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: partitionsAtOnceMax,
    eachBatch: (payload) => handleBatch(parts, { places, commits }, payload),
  });
};

/**
 * Offsets are committed beside the fetching, and before the member joins anew: kafkajs first says
 * that it will, and the request to join goes over the same connection as the commit.
 */
const followCommits = (
  { options, commitFailures }: Parts,
  consumer: Consumer,
  crash: (crash: Crash) => void,
): KafkaCommits => {
  const commits = createKafkaCommits({
    group: options.group,
    log: options.log,
    failures: commitFailures,
    giveUp: (error) => crash(crashOf(error)),
  });
  consumer.on(consumer.events.REBALANCING, () => void commits.flush());
  consumer.on(consumer.events.GROUP_JOIN, () => commits.joined());
  return commits;
};

/**
 * A consumer can stay joined and yet fetch nothing more. One that neither fetches nor handles for a
 * minute is replaced. That is harmless if only the brokers are away.
 */
const watchForSilence = (parts: Parts, consumer: Consumer, crash: (crash: Crash) => void) => {
  parts.lastSignAtMs = systemClock.elapsedMs();
  consumer.on(consumer.events.FETCH, () => {
    parts.lastSignAtMs = systemClock.elapsedMs();
    parts.pulse.beat();
    parts.fetched.set({ group: parts.options.group }, systemClock.now().getTime() / 1_000);
  });
  consumer.on(consumer.events.HEARTBEAT, () => parts.pulse.beat());
  return setInterval(() => {
    if (parts.batches.size > 0) parts.lastSignAtMs = systemClock.elapsedMs();
    if (systemClock.elapsedMs() - parts.lastSignAtMs < parts.silenceMsMax) return;
    crash({ error: new Error("the consumer fell silent"), isSilence: true });
  }, parts.silenceMsMax / looksPerSilence);
};

/** kafkajs calls this non-retriable, but it is only an outage. */
const outages = new Set([
  "KafkaJSGroupCoordinatorNotFound",
  "KafkaJSLockTimeout",
  "KafkaJSNumberOfRetriesExceeded",
  "KafkaJSTimeout",
]);

const causesMax = 5;

/** Whether Kafka says that the same try would fail again, such as for a wrong password. */
const isRefused = (error: Error): boolean => {
  let root: Error = error;
  for (let depth = 0; depth < causesMax && root.cause instanceof Error; depth += 1) {
    root = root.cause;
  }
  return "retriable" in root && root.retriable === false && !outages.has(root.name);
};

/**
 * Hands one partition's records over and tells of each part that is done. Meanwhile it keeps the
 * member alive, however long the handler waits. Only Kafka's own errors are thrown from here;
 * kafkajs then joins again.
 */
const handleBatch = async (
  parts: Parts,
  { places, commits }: { places: KafkaPlaces | undefined; commits: KafkaCommits },
  payload: EachBatchPayload,
): Promise<void> => {
  const { batch } = payload;
  const { topic, partition } = batch;
  const { handle, log, restMs = 0 } = parts.options;
  const restedAtMs = systemClock.elapsedMs() + restMs;
  const entered = places?.enter(batch, batch.messages[0]?.offset ?? "0");
  if (places !== undefined && entered === undefined) return;
  const records = batch.messages.map((message) => ({
    ...toReceived(message, topic, partition),
    ...(entered === undefined ? {} : { log: entered.log }),
  }));
  const reached = commits.enter(payload);
  const ending = new AbortController();
  let lostBy: unknown;
  const beat = setInterval(() => {
    payload.heartbeat().catch((error: unknown) => {
      lostBy = error;
      ending.abort();
    });
  }, heartbeatMs);
  parts.batches.add(ending);
  if (parts.stopping.signal.aborted || !payload.isRunning()) ending.abort();
  try {
    const handled = ({ offset }: ReceivedRecord) => {
      payload.resolveOffset(offset);
      const nextOffset = BigInt(offset) + 1n;
      entered?.reached(nextOffset);
      reached(nextOffset);
    };
    const { goBack } = await handOver({ records, handle, signal: ending.signal, log, handled });
    if (goBack !== undefined) places?.goBack(batch, goBack);
    const leftMs = restedAtMs - systemClock.elapsedMs();
    if (leftMs > 0) await systemClock.until(afterMs(systemClock, leftMs), ending.signal);
    // The member is about to lose its partitions: once this batch ends, it may be too late.
    if (ending.signal.aborted) await commits.flush();
  } finally {
    clearInterval(beat);
    entered?.left();
    parts.batches.delete(ending);
  }
  if (lostBy !== undefined) throw lostBy;
};

const toReceived = (
  { key, headers, value, offset }: KafkaMessage,
  topic: string,
  partition: number,
): ReceivedRecord => ({
  topic,
  partition,
  offset,
  key: key?.toString("utf8") ?? undefined,
  headers: readHeaders(headers),
  value: value ?? undefined,
});

/** A header may come twice and may be bytes. The last one counts, as text. */
const readHeaders = (headers: IHeaders | undefined): Record<string, string> => {
  const texts: Record<string, string> = {};
  for (const [name, given] of Object.entries(headers ?? {})) {
    const value = Array.isArray(given) ? given.at(-1) : given;
    if (value !== undefined) texts[name] = value.toString();
  }
  return texts;
};
