import type { Consumer, EachBatchPayload, IHeaders, KafkaMessage } from "kafkajs";
import type { Counter, Gauge } from "prom-client";
import { type Metrics, afterMs, systemClock } from "@payment-links/runtime";
import type { BatchHandler, PositionStore, ReceivedRecord, Subscription } from "./bus.ts";
import { type ConsumerLiveness, createConsumerLiveness } from "./consumer-liveness.ts";
import { settlesWithin } from "./settles-within.ts";
import { deliverRecords } from "./deliver-records.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";
import { type KafkaCommits, createKafkaCommits } from "./kafka-commits.ts";
import { type KafkaPositions, trackPositions } from "./kafka-positions.ts";
import { getOrCreateCounter, getOrCreateGauge } from "./metrics.ts";
import { retryAt } from "./retry-at.ts";

/** Configures one member of a group. */
export type KafkaConsumerOptions = KafkaConnection & {
  metrics: Metrics;
  /** How long the member can be silent before it is replaced. Default: 60 s. */
  silenceMsMax?: number;
  /** How often the member verifies the group's stored positions. Default: 60 s. */
  positionCheckIntervalMs?: number;
  group: string;
  topics: readonly string[];
  handle: BatchHandler;
  /**
   * The store with the positions at which the member starts on each join. Without it, the member
   * starts at Kafka's offsets.
   */
  positionStore?: PositionStore;
  /** The minimum time from the start of one batch to the next fetch. */
  batchIntervalMs?: number;
};

/** A member of a group over Kafka. */
export type KafkaSubscription = Subscription & {
  group: string;
  /**
   * Returns whether the member is silent although the broker responds, so that the process should
   * be restarted.
   */
  isStalled(): boolean;
};

const sessionTimeoutMs = 15_000;
const heartbeatIntervalMs = 2_000;
/**
 * The longest wait of a fetch. It returns earlier if there is a record. This value limits how long
 * a stop waits for a fetch and how late a member learns of a rebalance. Each fetch wakes an idle
 * process, so a smaller value uses more CPU time.
 */
const fetchWaitMs = 1_000;
/**
 * All partitions of a fetch are handled concurrently, because records that arrive together are
 * applied together.
 */
const concurrentPartitionsMax = 64;
const silenceMsMaxDefault = 60_000;
const positionCheckIntervalMsDefault = 60_000;
/** The number of checks within the maximum silence. */
const checksPerSilence = 12;
const stopTimeoutMs = 20_000;
/**
 * kafkajs retries only a few times and then reports a crash. The supervisor replaces a crashed
 * consumer without a limit.
 */
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 };

/** State that the running consumer shares with its batches. */
type ConsumerState = {
  options: KafkaConsumerOptions;
  stopController: AbortController;
  batchControllers: Set<AbortController>;
  /** Measured with the clock's `elapsedMs`. */
  lastActivityAtMs: number;
  silenceMsMax: number;
  liveness: ConsumerLiveness;
  lastFetchGauge: Gauge;
  resetCounter: Counter;
  commitFailureCounter: Counter;
};

/**
 * Joins a group and delivers its records until stopped. A kafkajs consumer that crashes or becomes
 * silent is replaced after a growing backoff, without a limit.
 */
export const createKafkaConsumer = (options: KafkaConsumerOptions): KafkaSubscription => {
  const { group, log, silenceMsMax = silenceMsMaxDefault } = options;
  const state: ConsumerState = {
    options,
    stopController: new AbortController(),
    batchControllers: new Set(),
    lastActivityAtMs: 0,
    silenceMsMax,
    liveness: createConsumerLiveness({ silenceMsMax }),
    lastFetchGauge: getOrCreateGauge(options.metrics, {
      name: "payment_links_bus_consumer_last_fetch_timestamp_seconds",
      help: "When a consumer last received a fetch response from the broker, even an empty one.",
      labelNames: ["group"],
    }),
    resetCounter: getOrCreateCounter(options.metrics, {
      name: "payment_links_bus_positions_reset_total",
      help: "Partitions reread from their beginning because the log lacks the next offset.",
      labelNames: ["group", "reason"],
    }),
    commitFailureCounter: getOrCreateCounter(options.metrics, {
      name: "payment_links_bus_offset_commit_failures_total",
      help: "Failed offset commits of a group; each is retried.",
      labelNames: ["group"],
    }),
  };
  // The gauge needs an initial value, so that a consumer that never completes a fetch is noticed
  // too.
  state.lastFetchGauge.set({ group }, systemClock.now().getTime() / 1_000);
  const crashCounter = getOrCreateCounter(options.metrics, {
    name: "payment_links_bus_consumer_crashes_total",
    help: "Consumers that crashed or stopped responding and were replaced.",
    labelNames: ["group"],
  });
  const supervised = supervise(state, crashCounter);
  const brokerProbeTimer = probeBrokersWhileSilent(state);
  return {
    group,
    isStalled: () => !state.stopController.signal.aborted && state.liveness.isStalled(),
    stop: async () => {
      clearInterval(brokerProbeTimer);
      state.stopController.abort();
      for (const batchController of state.batchControllers) batchController.abort();
      if (!(await settlesWithin(supervised, stopTimeoutMs))) {
        log.warn({ group }, "consumer did not stop in time, abandoning it");
      }
    },
  };
};

const supervise = async (state: ConsumerState, crashCounter: Counter): Promise<void> => {
  const { options, liveness, silenceMsMax, stopController } = state;
  const { group, log } = options;
  let failures = 0;
  while (!stopController.signal.aborted) {
    const startedAtMs = systemClock.elapsedMs();
    const { error, isSilent = false } = await runConsumerOnce(state);
    if (error === undefined || stopController.signal.aborted) return;
    // An error counts as activity, because a restarted process could not do more than this loop
    // does.
    if (!isSilent) liveness.recordActivity();
    crashCounter.inc({ group });
    if (systemClock.elapsedMs() - startedAtMs > silenceMsMax) failures = 0;
    failures += 1;
    const logFields = { err: error, group, failures };
    if (isNonRetriable(error)) log.error(logFields, "Kafka rejects the consumer, retrying");
    else log.warn(logFields, "consumer crashed, starting a new one");
    await systemClock.sleepUntil(retryAt(systemClock, failures), stopController.signal);
  }
};

/**
 * Requests metadata from the brokers on a separate connection while the consumer is silent. This
 * distinguishes a hanging consumer from unavailable brokers.
 */
const probeBrokersWhileSilent = ({
  options,
  liveness,
  silenceMsMax,
}: ConsumerState): NodeJS.Timeout => {
  let isProbing = false;
  const probeBrokers = async () => {
    const admin = createKafkaClient(options, { retry: { retries: 0 } }).admin();
    try {
      await admin.connect();
      await admin.describeCluster();
      liveness.recordBrokerResponse();
    } catch (error) {
      liveness.recordBrokerFailure();
      options.log.debug({ err: error }, "brokers did not answer a metadata request");
    } finally {
      await settlesWithin(admin.disconnect(), stopTimeoutMs);
      isProbing = false;
    }
  };
  return setInterval(() => {
    if (isProbing || liveness.getSilentMs() < silenceMsMax / 2) return;
    isProbing = true;
    void probeBrokers();
  }, silenceMsMax / checksPerSilence);
};

type Crash = { error?: Error; isSilent?: boolean };

const toCrash = (error: unknown): Crash => ({
  error: error instanceof Error ? error : new Error("kafkajs threw a value that is not an Error"),
});

/** Runs one kafkajs consumer until it crashes, becomes silent or is stopped. */
const runConsumerOnce = async (state: ConsumerState): Promise<Crash> => {
  const { options, stopController } = state;
  const { promise: crashed, resolve: crash } = Promise.withResolvers<Crash>();
  const consumer = createKafkaClient(options, { retry }).consumer({
    groupId: options.group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    maxWaitTimeInMs: fetchWaitMs,
    allowAutoTopicCreation: false,
    retry: { ...retry, restartOnFailure: async () => false },
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => crash({ error: payload.error }));
  const abandonController = new AbortController();
  const onStop = () => crash({});
  stopController.signal.addEventListener("abort", onStop, { once: true });
  const silenceTimer = watchForSilence(state, consumer, crash);
  const commits = trackCommits(state, consumer, crash);
  try {
    await consumer.connect();
    if (!stopController.signal.aborted)
      await joinGroup(state, { consumer, commits }, abandonController.signal);
    return await crashed;
  } catch (error) {
    return toCrash(error);
  } finally {
    clearInterval(silenceTimer);
    abandonController.abort();
    stopController.signal.removeEventListener("abort", onStop);
    commits.stop();
    // Sends the commit before the member leaves the group. Each running batch flushes its own
    // offsets, and `disconnect` waits for it.
    if (stopController.signal.aborted) void commits.flush();
    await settlesWithin(consumer.disconnect(), stopTimeoutMs);
  }
};

/**
 * Joins the group. Must complete even during a stop: kafkajs loses track of a consumer that is
 * stopped while it joins.
 */
const joinGroup = async (
  state: ConsumerState,
  { consumer, commits }: { consumer: Consumer; commits: KafkaCommits },
  signal: AbortSignal,
): Promise<void> => {
  const { options, resetCounter } = state;
  const {
    group,
    positionStore,
    positionCheckIntervalMs = positionCheckIntervalMsDefault,
    topics,
  } = options;
  const kafkaPositions =
    positionStore &&
    trackPositions({
      connection: options,
      group,
      consumer,
      positions: positionStore,
      resetCounter,
      checkIntervalMs: positionCheckIntervalMs,
      signal,
    });
  await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: concurrentPartitionsMax,
    eachBatch: (payload) => handleBatch(state, { kafkaPositions, commits }, payload),
  });
};

/**
 * Commits offsets without blocking fetches, and again before the member rejoins. kafkajs emits
 * `REBALANCING` before it sends the join request, which uses the same connection as the commit.
 */
const trackCommits = (
  { options, commitFailureCounter }: ConsumerState,
  consumer: Consumer,
  crash: (crash: Crash) => void,
): KafkaCommits => {
  const commits = createKafkaCommits({
    group: options.group,
    log: options.log,
    failureCounter: commitFailureCounter,
    onGiveUp: (error) => crash(toCrash(error)),
  });
  consumer.on(consumer.events.REBALANCING, () => void commits.flush());
  consumer.on(consumer.events.GROUP_JOIN, () => commits.onJoin());
  return commits;
};

/**
 * Detects a consumer that stays in its group but has stopped fetching. After `silenceMsMax` without
 * a fetch or a running batch, the consumer is replaced. Replacing it is harmless if the cause is
 * only unavailable brokers.
 */
const watchForSilence = (
  state: ConsumerState,
  consumer: Consumer,
  crash: (crash: Crash) => void,
) => {
  state.lastActivityAtMs = systemClock.elapsedMs();
  consumer.on(consumer.events.FETCH, () => {
    state.lastActivityAtMs = systemClock.elapsedMs();
    state.liveness.recordActivity();
    state.lastFetchGauge.set({ group: state.options.group }, systemClock.now().getTime() / 1_000);
  });
  consumer.on(consumer.events.HEARTBEAT, () => state.liveness.recordActivity());
  return setInterval(() => {
    if (state.batchControllers.size > 0) state.lastActivityAtMs = systemClock.elapsedMs();
    if (systemClock.elapsedMs() - state.lastActivityAtMs < state.silenceMsMax) return;
    crash({ error: new Error("the consumer stopped responding"), isSilent: true });
  }, state.silenceMsMax / checksPerSilence);
};

/** Errors that kafkajs calls non-retriable although they only indicate an outage. */
const outageErrorNames = new Set([
  "KafkaJSGroupCoordinatorNotFound",
  "KafkaJSLockTimeout",
  "KafkaJSNumberOfRetriesExceeded",
  "KafkaJSTimeout",
]);

const causesMax = 5;

/** Returns whether Kafka says that a retry would fail again, for example for a wrong password. */
const isNonRetriable = (error: Error): boolean => {
  let rootCause: Error = error;
  for (let depth = 0; depth < causesMax && rootCause.cause instanceof Error; depth += 1) {
    rootCause = rootCause.cause;
  }
  return (
    "retriable" in rootCause &&
    rootCause.retriable === false &&
    !outageErrorNames.has(rootCause.name)
  );
};

/**
 * Delivers the records of one partition and tracks each handled part. Sends heartbeats for as long
 * as the handler runs. Throws only Kafka's own errors, after which kafkajs rejoins the group.
 */
const handleBatch = async (
  state: ConsumerState,
  {
    kafkaPositions,
    commits,
  }: { kafkaPositions: KafkaPositions | undefined; commits: KafkaCommits },
  payload: EachBatchPayload,
): Promise<void> => {
  const { batch } = payload;
  const { topic, partition } = batch;
  const { handle, log, batchIntervalMs = 0 } = state.options;
  const nextBatchAtMs = systemClock.elapsedMs() + batchIntervalMs;
  const acceptedBatch = kafkaPositions?.acceptBatch(batch, batch.messages[0]?.offset ?? "0");
  if (kafkaPositions !== undefined && acceptedBatch === undefined) return;
  const records = batch.messages.map((message) => ({
    ...toReceivedRecord(message, topic, partition),
    ...(acceptedBatch === undefined ? {} : { log: acceptedBatch.log }),
  }));
  const trackHandledOffset = commits.trackBatch(payload);
  const abortController = new AbortController();
  let heartbeatError: unknown;
  const heartbeatTimer = setInterval(() => {
    payload.heartbeat().catch((error: unknown) => {
      heartbeatError = error;
      abortController.abort();
    });
  }, heartbeatIntervalMs);
  state.batchControllers.add(abortController);
  if (state.stopController.signal.aborted || !payload.isRunning()) abortController.abort();
  try {
    const onHandled = ({ offset }: ReceivedRecord) => {
      payload.resolveOffset(offset);
      const nextOffset = BigInt(offset) + 1n;
      acceptedBatch?.onHandled(nextOffset);
      trackHandledOffset(nextOffset);
    };
    const { rewindReason } = await deliverRecords({
      records,
      handle,
      signal: abortController.signal,
      log,
      onHandled,
    });
    if (rewindReason !== undefined) kafkaPositions?.rewind(batch, rewindReason);
    const remainingMs = nextBatchAtMs - systemClock.elapsedMs();
    if (remainingMs > 0)
      await systemClock.sleepUntil(afterMs(systemClock, remainingMs), abortController.signal);
    // The member is about to lose its partitions, and after this batch it may be too late to
    // commit.
    if (abortController.signal.aborted) await commits.flush();
  } finally {
    clearInterval(heartbeatTimer);
    acceptedBatch?.onDone();
    state.batchControllers.delete(abortController);
  }
  if (heartbeatError !== undefined) throw heartbeatError;
};

const toReceivedRecord = (
  { key, headers, value, offset }: KafkaMessage,
  topic: string,
  partition: number,
): ReceivedRecord => ({
  topic,
  partition,
  offset,
  key: key?.toString("utf8") ?? undefined,
  headers: parseHeaders(headers),
  value: value ?? undefined,
});

/** Converts headers to text. If a header occurs more than once, the last value wins. */
const parseHeaders = (headers: IHeaders | undefined): Record<string, string> => {
  const textHeaders: Record<string, string> = {};
  for (const [name, headerValue] of Object.entries(headers ?? {})) {
    const value = Array.isArray(headerValue) ? headerValue.at(-1) : headerValue;
    if (value !== undefined) textHeaders[name] = value.toString();
  }
  return textHeaders;
};
