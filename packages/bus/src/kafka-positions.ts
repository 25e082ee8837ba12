import type { Admin, Consumer } from "kafkajs";
import type { Counter } from "prom-client";
import { afterMs, systemClock } from "@payment-links/runtime";
import type { BatchResult, PartitionLog, TopicPartition, Position, PositionStore } from "./bus.ts";
import { settlesWithin } from "./settles-within.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";
import { retryAt } from "./retry-at.ts";

/** Puts a member of a group where the group's positions say. */
export type KafkaPositions = {
  /**
   * Lets records in that begin at this offset. Answers whose they are and whom to tell how far the
   * member has come, or nothing if the records are not what comes next: then they are left alone.
   */
  acceptBatch(topicPartition: TopicPartition, offset: string): AcceptedBatch | undefined;
  /** Goes back to where the group's position says, or to the log's beginning if that is another. */
  rewind(topicPartition: TopicPartition, reason: RewindReason): void;
};

type RewindReason = NonNullable<BatchResult["rewindReason"]>;

type AcceptedBatch = {
  log: PartitionLog;
  onHandled: (nextOffset: bigint) => void;
  /** The handler has done with the records. */
  onDone: () => void;
};

type KafkaPositionsOptions = {
  connection: KafkaConnection;
  group: string;
  consumer: Consumer;
  positions: PositionStore;
  resetCounter: Counter;
  /** How often the positions are looked at although nothing comes. */
  checkIntervalMs: number;
  /** Aborted when the member is given up. */
  signal: AbortSignal;
};

/** Why a position cannot be kept: what the log has lost is read no more. */
type ResetReason = "other_cluster" | "log_lost" | "deleted_unread";

type PartitionPosition = Position & { topicPartition: TopicPartition };

type TrackerState = KafkaPositionsOptions & {
  /** Where each partition reads on; one that is absent has not been placed since the last join. */
  partitionPositions: Map<string, PartitionPosition>;
  /** Partitions whose log has not what lies before the position, although it may have grown since. */
  lostPartitions: Set<string>;
  /**
   * Partitions of which records are with the handler, which finds by itself that they come too early. Put
   * back to before them, it would take what lies between for done.
   */
  partitionsInProgress: Set<string>;
  /** Counts the joins: what was asked for an earlier one comes too late. */
  joinCount: number;
};

const closeTimeoutMs = 5_000;
const toPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/**
 * Follows a group's positions. At each join the member's partitions are held back until their
 * positions are read, for as long as that takes, and then read from there. Kafka's own offsets count
 * only for a partition that has no position yet.
 */
export const trackPositions = (options: KafkaPositionsOptions): KafkaPositions => {
  const state: TrackerState = {
    ...options,
    partitionPositions: new Map(),
    lostPartitions: new Set(),
    partitionsInProgress: new Set(),
    joinCount: 0,
  };
  const { consumer } = options;
  // kafkajs calls this before it fetches for the new assignment.
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    state.joinCount += 1;
    state.partitionPositions.clear();
    void seekToPositions(state, payload.memberAssignment);
  });
  void checkPositionsPeriodically(state);
  return {
    acceptBatch: (topicPartition, offset) => acceptBatch(state, topicPartition, offset),
    rewind: (topicPartition, reason) => rewind(state, topicPartition, reason),
  };
};

const acceptBatch = (
  state: TrackerState,
  topicPartition: TopicPartition,
  offset: string,
): AcceptedBatch | undefined => {
  const partitionKey = toPartitionKey(topicPartition);
  const { joinCount, partitionPositions } = state;
  const position = partitionPositions.get(partitionKey);
  if (position === undefined) return undefined;
  if (BigInt(offset) < position.nextOffset) {
    // kafkajs begins anew by itself only where the broker knew no such offset.
    rewind(state, topicPartition, "log_lost");
    return undefined;
  }
  const onHandled = (nextOffset: bigint) => {
    if (joinCount === state.joinCount)
      partitionPositions.set(partitionKey, { ...position, nextOffset });
  };
  state.partitionsInProgress.add(partitionKey);
  const onDone = () => void state.partitionsInProgress.delete(partitionKey);
  return { log: position, onHandled, onDone };
};

const rewind = (
  state: TrackerState,
  topicPartition: TopicPartition,
  reason: RewindReason,
): void => {
  if (reason === "log_lost") state.lostPartitions.add(toPartitionKey(topicPartition));
  state.partitionPositions.delete(toPartitionKey(topicPartition));
  void seekToPositions(state, { [topicPartition.topic]: [topicPartition.partition] });
};

/**
 * Looks from time to time whether the database still knows what the member has committed. One that took
 * over with less, as after a fail-over, is else found out only by the next record of each partition.
 */
const checkPositionsPeriodically = async (state: TrackerState): Promise<void> => {
  const { connection, group, checkIntervalMs, signal } = state;
  for (;;) {
    await systemClock.sleepUntil(afterMs(systemClock, checkIntervalMs), signal);
    if (signal.aborted) return;
    try {
      await rewindBehindPartitions(state);
    } catch (error) {
      connection.log.warn({ err: error, group }, "a consumer's positions could not be looked at");
    }
  }
};

const rewindBehindPartitions = async (state: TrackerState): Promise<void> => {
  const { partitionPositions, positions, signal } = state;
  // As they are before the database is asked: they go on meanwhile.
  const positionsByTopic = Map.groupBy(
    partitionPositions,
    ([, { topicPartition }]) => topicPartition.topic,
  );
  for (const [topic, topicPositions] of positionsByTopic) {
    const storedPositions = await positions.read(topic);
    // The member may be stopped by now, and pauses nothing any more.
    if (signal.aborted) return;
    for (const [partitionKey, knownPosition] of topicPositions) {
      const { nextOffset = -1n } =
        storedPositions.get(knownPosition.topicPartition.partition) ?? {};
      const isBehind =
        nextOffset < knownPosition.nextOffset && !state.partitionsInProgress.has(partitionKey);
      if (isBehind && partitionPositions.get(partitionKey) === knownPosition)
        rewind(state, knownPosition.topicPartition, "behind");
    }
  }
};

type Assignment = Readonly<Record<string, readonly number[]>>;

/** Holds partitions back, and lets them go on from their positions. */
const seekToPositions = async (state: TrackerState, assignment: Assignment): Promise<void> => {
  const { connection, consumer, group, signal } = state;
  const { joinCount } = state;
  const isCancelled = () => signal.aborted || joinCount !== state.joinCount;
  consumer.pause(toTopicPartitions(assignment));
  for (let failures = 1; !isCancelled(); failures += 1) {
    try {
      const resolvedPositions = await resolvePositions(state, assignment);
      if (isCancelled()) return;
      for (const resolvedPosition of resolvedPositions) seekTo(state, resolvedPosition);
      consumer.resume(toTopicPartitions(assignment));
      return;
    } catch (error) {
      const logFields = { err: error, group, failures };
      connection.log.warn(logFields, "a consumer's positions could not be read yet; it waits");
    }
    await systemClock.sleepUntil(retryAt(systemClock, failures), signal);
  }
};

const toTopicPartitions = (assignment: Assignment) =>
  Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));

const seekTo = (
  state: TrackerState,
  { logStartOffset, topicPartition, position }: ResolvedPosition,
): void => {
  const { consumer, positions } = state;
  positions.onSeek(topicPartition, position);
  const { lastRecord, nextOffset } = position;
  const hasLastRecord = lastRecord !== undefined && nextOffset > logStartOffset;
  const seekOffset = hasLastRecord ? nextOffset - 1n : nextOffset;
  consumer.seek({ ...topicPartition, offset: String(seekOffset) });
  state.partitionPositions.set(toPartitionKey(topicPartition), {
    ...position,
    topicPartition,
    nextOffset: seekOffset,
  });
  state.lostPartitions.delete(toPartitionKey(topicPartition));
};

/** `first` is where the log begins. */
type ResolvedPosition = {
  topicPartition: TopicPartition;
  position: Position;
  logStartOffset: bigint;
};

const resolvePositions = async (
  state: TrackerState,
  assignment: Assignment,
): Promise<ResolvedPosition[]> => {
  const admin = createKafkaClient(state.connection, { retry: { retries: 1 } }).admin();
  try {
    await admin.connect();
    const { clusterId } = await admin.describeCluster();
    const resolvedPositions: ResolvedPosition[] = [];
    for (const [topic, partitions] of Object.entries(assignment)) {
      resolvedPositions.push(
        ...(await resolveTopicPositions(state, admin, { clusterId, topic, partitions })),
      );
    }
    return resolvedPositions;
  } finally {
    await settlesWithin(admin.disconnect(), closeTimeoutMs);
  }
};

type TopicRequest = { clusterId: string; topic: string; partitions: readonly number[] };

const resolveTopicPositions = async (
  state: TrackerState,
  admin: Admin,
  request: TopicRequest,
): Promise<ResolvedPosition[]> => {
  const { clusterId, topic, partitions } = request;
  const { group, positions } = state;
  // Read before the log's ends, which only grow: so no position lies behind one by being newer.
  const storedPositions = await positions.read(topic);
  const logBoundsByPartition = new Map(
    (await admin.fetchTopicOffsets(topic)).map(({ partition, high, low }) => [
      partition,
      { logStartOffset: BigInt(low), logEndOffset: BigInt(high) },
    ]),
  );
  const hasNewPartition = partitions.some((partition) => !storedPositions.has(partition));
  const [committedOffsets] = hasNewPartition
    ? await admin.fetchOffsets({ groupId: group, topics: [topic] })
    : [];
  return Promise.all(
    partitions.map(async (partition) => {
      const topicPartition = { topic, partition };
      const logBounds = logBoundsByPartition.get(partition);
      if (logBounds === undefined)
        throw new Error(`the broker does not know ${toPartitionKey(topicPartition)}`);
      const storedPosition = storedPositions.get(partition);
      const committedOffset = committedOffsets?.partitions.find(
        (entry) => entry.partition === partition,
      )?.offset;
      const resetReason =
        storedPosition &&
        getResetReason(
          storedPosition,
          { ...logBounds, clusterId },
          state.lostPartitions.has(toPartitionKey(topicPartition)),
        );
      const { logStartOffset } = logBounds;
      if (storedPosition !== undefined && resetReason === undefined)
        return { topicPartition, position: storedPosition, logStartOffset };
      const nextOffset =
        storedPosition === undefined
          ? clampToLog(BigInt(committedOffset ?? -1), logBounds)
          : logStartOffset;
      const resetCount = storedPosition === undefined ? 0 : storedPosition.resetCount + 1;
      const position = { clusterId, resetCount, nextOffset };
      if (!(await positions.replace(topicPartition, { from: storedPosition, to: position }))) {
        throw new Error("the position has just moved");
      }
      if (resetReason !== undefined)
        reportReset(state, topicPartition, {
          reason: resetReason,
          previousPosition: storedPosition,
          nextOffset,
        });
      return { topicPartition, position, logStartOffset };
    }),
  );
};

type LogBounds = { logStartOffset: bigint; logEndOffset: bigint };

const getResetReason = (
  position: Position,
  { clusterId, logStartOffset, logEndOffset }: LogBounds & { clusterId: string },
  isLost: boolean,
): ResetReason | undefined => {
  if (position.clusterId !== clusterId) return "other_cluster";
  if (isLost || position.nextOffset > logEndOffset) return "log_lost";
  return position.nextOffset < logStartOffset ? "deleted_unread" : undefined;
};

/** Where the group stands by Kafka's own account; at the beginning if that cannot be. */
const clampToLog = (committedOffset: bigint, { logStartOffset, logEndOffset }: LogBounds): bigint =>
  committedOffset < logStartOffset || committedOffset > logEndOffset
    ? logStartOffset
    : committedOffset;

const reportReset = (
  { connection, group, resetCounter }: TrackerState,
  { topic, partition }: TopicPartition,
  reset: { reason: ResetReason; previousPosition: Position | undefined; nextOffset: bigint },
): void => {
  const { reason, previousPosition, nextOffset } = reset;
  resetCounter.inc({ group, reason });
  connection.log.error(
    {
      group,
      topic,
      partition,
      reason,
      position: String(previousPosition?.nextOffset),
      begins_at: String(nextOffset),
    },
    "the log does not have what comes next; the consumer begins with what it has",
  );
};
