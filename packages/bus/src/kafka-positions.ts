import type { Admin, Consumer } from "kafkajs";
import type { Counter } from "prom-client";
import { afterMs, systemClock } from "@payment-links/runtime";
import type { BatchResult, PartitionLog, TopicPartition, Position, PositionStore } from "./bus.ts";
import { settlesWithin } from "./settles-within.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";
import { retryAt } from "./retry-at.ts";

/** Moves a member of a group to the group's stored positions. */
export type KafkaPositions = {
  /**
   * Accepts a batch that starts at this offset. Returns its log and the callbacks that track
   * progress. Returns undefined if the batch does not start at the expected offset and must be
   * dropped.
   */
  acceptBatch(topicPartition: TopicPartition, offset: string): AcceptedBatch | undefined;
  /**
   * Seeks back to the group's stored position, or to the beginning of the log if the log was
   * replaced.
   */
  rewind(topicPartition: TopicPartition, reason: RewindReason): void;
};

type RewindReason = NonNullable<BatchResult["rewindReason"]>;

type AcceptedBatch = {
  log: PartitionLog;
  onHandled: (nextOffset: bigint) => void;
  /** Called when the handler has finished with the records. */
  onDone: () => void;
};

type KafkaPositionsOptions = {
  connection: KafkaConnection;
  group: string;
  consumer: Consumer;
  positions: PositionStore;
  resetCounter: Counter;
  /** How often the stored positions are checked. */
  checkIntervalMs: number;
  /** Aborted when the member is abandoned. */
  signal: AbortSignal;
};

/**
 * Why a position is invalid. `deleted_unread` means that the log has already deleted records that
 * were not read.
 */
type ResetReason = "other_cluster" | "log_lost" | "deleted_unread";

type PartitionPosition = Position & { topicPartition: TopicPartition };

type TrackerState = KafkaPositionsOptions & {
  /**
   * The next offset of each partition. A partition is missing here until its position has been read
   * after a join.
   */
  partitionPositions: Map<string, PartitionPosition>;
  /**
   * Partitions whose log was lost. Their position is invalid even if the log has grown beyond it
   * since.
   */
  lostPartitions: Set<string>;
  /**
   * Partitions whose records are in the handler. They are not rewound meanwhile, because that would
   * skip records. The handler itself detects that the records do not follow the stored position.
   */
  partitionsInProgress: Set<string>;
  /** Counts joins. A result that was requested before the current join is ignored. */
  joinCount: number;
};

const closeTimeoutMs = 5_000;
const toPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/**
 * Tracks a group's positions. On each join, pauses the member's partitions until their positions
 * have been read, without a time limit, and then resumes them there. Kafka's own offsets are used
 * only for a partition without a stored position.
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
  // kafkajs emits this event before it fetches for the new assignment.
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
    // The log was replaced. kafkajs resets a partition on its own only if the broker does not know
    // the offset.
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
 * Periodically checks that the database still has the positions that the member committed. After a
 * failover, a standby may lack recent commits. Without this check, the loss would only be noticed
 * at the next record of each partition.
 */
const checkPositionsPeriodically = async (state: TrackerState): Promise<void> => {
  const { connection, group, checkIntervalMs, signal } = state;
  for (;;) {
    await systemClock.sleepUntil(afterMs(systemClock, checkIntervalMs), signal);
    if (signal.aborted) return;
    try {
      await rewindBehindPartitions(state);
    } catch (error) {
      connection.log.warn({ err: error, group }, "consumer positions could not be checked");
    }
  }
};

const rewindBehindPartitions = async (state: TrackerState): Promise<void> => {
  const { partitionPositions, positions, signal } = state;
  // Copies the positions before the database query, because they advance meanwhile.
  const positionsByTopic = Map.groupBy(
    partitionPositions,
    ([, { topicPartition }]) => topicPartition.topic,
  );
  for (const [topic, topicPositions] of positionsByTopic) {
    const storedPositions = await positions.read(topic);
    // The member may have stopped during the read. In that case it must not pause any partition.
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

/** Pauses partitions, seeks to their positions and resumes them. */
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
      connection.log.warn(logFields, "consumer positions could not be read, retrying");
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

/** A stored position with the first offset of its log. */
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
  // The positions are read before the log's end offsets. End offsets only grow, so a valid position
  // never exceeds one that was read later.
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
        throw new Error("the position changed in the meantime");
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

/** Returns Kafka's committed offset, or the start of the log if that offset is outside the log. */
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
    "the log lacks the next offset, reading from the start of the log",
  );
};
