import { trace } from "@opentelemetry/api";
import type { Pool } from "@payment-links/postgres";
import {
  type Clock,
  type Log,
  type Metrics,
  extractTraceContext,
  startLoop,
} from "@payment-links/runtime";
import type { ConsumerContext, ChunkResult } from "./apply-chunk.ts";
import type { BatchHandler, Bus } from "./bus.ts";
import { indexHandlers, parseRecord } from "./cloud-event.ts";
import { createConsumerMetrics } from "./consumer-metrics.ts";
import { countDeadLetters } from "./dead-letters.ts";
import { chunkRecordsMax, createChunkBatcher } from "./chunk-batcher.ts";
import { findReceivedUntil } from "./watermarks.ts";
import { PositionBehindError, createGroupPositions } from "./positions.ts";
import type { RegisteredHandler } from "./event-handlers.ts";

export type ConsumerOptions = {
  bus: Bus;
  pool: Pool;
  /**
   * The name of the consumer group, which also identifies its positions. It belongs to one service,
   * is never shared and never changes.
   */
  group: string;
  handlers: readonly RegisteredHandler[];
  metrics: Metrics;
  log: Log;
  clock: Clock;
  /** Called after each commit that may have written to the outbox. Services wake their relay here. */
  afterCommit?: () => void;
  /**
   * Awaited before each transaction. It must resolve once the service has capacity for another
   * transaction, or at its own time limit. The records stay on the bus meanwhile.
   */
  waitForCapacity?: () => Promise<void>;
  /** The minimum time from the start of one batch to the start of the next. Default: 0. */
  batchIntervalMs?: number;
};

/** A running consumer. */
export type Consumer = {
  /** Waits until the current chunk is committed, and stops. */
  stop(): Promise<void>;
};

const maintenanceIntervalMs = 60_000;

/**
 * Starts to apply the events of the handlers' topics, with exactly-once effect. The transaction
 * that applies an event also advances the group's position, and handlers must tolerate a
 * redelivered event. A record that cannot be applied is dead-lettered, and so are later records
 * with the same key. All other records proceed (rule KEEP-6).
 */
export const startConsumer = async (options: ConsumerOptions): Promise<Consumer> => {
  const { bus, pool, group, handlers, clock, log, afterCommit } = options;
  const handlerIndex = indexHandlers(handlers);
  const topics = [...new Set(handlers.map((handler) => handler.event.topic))];
  const metrics = createConsumerMetrics(options.metrics, { group, clock });
  const groupPositions = createGroupPositions({ pool, group, onWait: () => metrics.recordWait() });

  const maintenanceLoop = startLoop({
    name: `dead letters of ${group}`,
    clock,
    log,
    waitMs: maintenanceIntervalMs,
    run: async () => {
      metrics.setDeadLetterCount(await countDeadLetters(pool, group));
      for (const topic of topics) {
        metrics.setReceivedUntil(topic, await findReceivedUntil(pool, { group, topic }));
      }
    },
  });

  const context: ConsumerContext = {
    pool,
    group,
    positions: groupPositions,
    clock,
    log,
    onWait: () => metrics.recordWait(),
    onCommitted: ([first], result) => {
      if (first !== undefined) metrics.recordCommitted(first.record.topic, result);
      if (result.deadLetterCount > 0) maintenanceLoop.wake();
      if (log.isLevelEnabled("debug")) logAppliedEvents(log, group, result);
      if (result.hasPublished) afterCommit?.();
    },
  };
  const batcher = createChunkBatcher(context, options.waitForCapacity);

  const handle: BatchHandler = async (records, signal) => {
    let handledCount = 0;
    const onProcessed = (count: number) => {
      handledCount += count;
    };
    try {
      for (
        let startIndex = 0;
        startIndex < records.length && !signal.aborted;
        startIndex += chunkRecordsMax
      ) {
        const chunk = records.slice(startIndex, startIndex + chunkRecordsMax);
        const parsedRecords = chunk.map((record) => parseRecord(record, handlerIndex));
        await batcher.apply({ parsedRecords, signal, onProcessed });
      }
    } catch (error) {
      if (error instanceof PositionBehindError) return { handledCount, rewindReason: error.reason };
      if (!signal.aborted) throw error;
    }
    return { handledCount };
  };

  const { batchIntervalMs = 0 } = options;
  const subscription = await bus.subscribe({
    group,
    topics,
    handle,
    positionStore: groupPositions,
    batchIntervalMs,
  });
  return {
    stop: async () => {
      await subscription.stop();
      await maintenanceLoop.stop();
    },
  };
};

/**
 * Logs one line per event with the event's own trace id, even if many events were applied together.
 */
const logAppliedEvents = (log: Log, group: string, { appliedEvents }: ChunkResult): void => {
  for (const { record, envelope, traceparent } of appliedEvents) {
    const traceId = trace.getSpanContext(extractTraceContext(traceparent))?.traceId;
    const logFields = { group, topic: record.topic, event_id: envelope.id };
    log.debug(
      traceId === undefined ? logFields : { ...logFields, trace_id: traceId },
      "event applied",
    );
  }
};
