import { trace } from "@opentelemetry/api";
import type { Pool } from "@payment-links/postgres";
import {
  type Clock,
  type Log,
  type Metrics,
  continueTrace,
  startLoop,
} from "@payment-links/runtime";
import type { Applier, ChunkOutcome } from "./apply-chunk.ts";
import type { BatchHandler, Bus } from "./bus.ts";
import { indexReactions, readRecord } from "./cloud-event.ts";
import { createConsumerMetrics } from "./consumer-metrics.ts";
import { countParked } from "./dead-letters.ts";
import { chunkRecordsMax, gatherChunks } from "./gather-chunks.ts";
import { findHeardUntil } from "./marks.ts";
import { PositionBehind, createPositions } from "./positions.ts";
import type { Reaction } from "./reaction.ts";

export type ConsumerOptions = {
  bus: Bus;
  pool: Pool;
  /**
   * The group's name, also of its positions. It is the service's own, is never shared and never
   * changes.
   */
  group: string;
  reactions: readonly Reaction[];
  metrics: Metrics;
  log: Log;
  clock: Clock;
  /** Called after each commit that may have written to the outbox. Services wake their relay here. */
  afterCommit?: () => void;
  /**
   * Awaited before each transaction. It ends once the service can take another one, and always within a
   * bound of its own. Meanwhile the records wait on the bus.
   */
  pace?: () => Promise<void>;
  /** How long after records were taken the next ones are, at the soonest; at once if left out. */
  restMs?: number;
};

/** A running consumer. */
export type Consumer = {
  /** Lets the chunk under way be committed, and takes no more. */
  stop(): Promise<void>;
};

const upkeepEveryMs = 60_000;

/**
 * Starts to apply the events of the reactions' topics, each exactly once in effect: the transaction
 * that applies it moves the group's position, and a reaction is harmless when an event comes again all
 * the same. A record that cannot be applied is set aside with later records of its key; everything else goes on (rule
 * KEEP-6).
 */
export const startConsumer = async (options: ConsumerOptions): Promise<Consumer> => {
  const { bus, pool, group, reactions, clock, log, afterCommit } = options;
  const index = indexReactions(reactions);
  const topics = [...new Set(reactions.map((reaction) => reaction.event.topic))];
  const metrics = createConsumerMetrics(options.metrics, { group, clock });
  const positions = createPositions({ pool, group, waited: () => metrics.waited() });

  const upkeep = startLoop({
    name: `dead letters of ${group}`,
    clock,
    log,
    waitMs: upkeepEveryMs,
    run: async () => {
      metrics.parked(await countParked(pool, group));
      for (const topic of topics) {
        metrics.heardUntil(topic, await findHeardUntil(pool, { group, topic }));
      }
    },
  });

  const applier: Applier = {
    pool,
    group,
    positions,
    clock,
    log,
    waited: () => metrics.waited(),
    committed: ([first], outcome) => {
      if (first !== undefined) metrics.committed(first.record.topic, outcome);
      if (outcome.parkedCount > 0) upkeep.wake();
      for (const act of outcome.afterCommits) act();
      if (log.isLevelEnabled("debug")) tellApplied(log, group, outcome);
      if (outcome.hasTold) afterCommit?.();
    },
  };
  const gatherer = gatherChunks(applier, options.pace);

  const handle: BatchHandler = async (records, signal) => {
    let handledCount = 0;
    const settled = (count: number) => {
      handledCount += count;
    };
    try {
      for (let at = 0; at < records.length && !signal.aborted; at += chunkRecordsMax) {
        const chunk = records.slice(at, at + chunkRecordsMax);
        const readings = chunk.map((record) => readRecord(record, index));
        await gatherer.apply({ readings, signal, settled });
      }
    } catch (error) {
      if (error instanceof PositionBehind) return { handledCount, goBack: error.reason };
      if (!signal.aborted) throw error;
    }
    return { handledCount };
  };

  const { restMs = 0 } = options;
  const subscription = await bus.subscribe({ group, topics, handle, positions, restMs });
  return {
    stop: async () => {
      await subscription.stop();
      await upkeep.stop();
    },
  };
};

/** One line per event with the event's own trace, even if many events are applied at once. */
const tellApplied = (log: Log, group: string, { applied }: ChunkOutcome): void => {
  for (const { record, envelope, traceparent } of applied) {
    const traceId = trace.getSpanContext(continueTrace(traceparent))?.traceId;
    const line = { group, topic: record.topic, event_id: envelope.id };
    log.debug(traceId === undefined ? line : { ...line, trace_id: traceId }, "an event is applied");
  }
};
