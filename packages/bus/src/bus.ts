/** A record to publish: an event, with its CloudEvents attributes as headers. */
export type OutgoingRecord = {
  topic: string;
  key: string;
  headers: Record<string, string>;
  value: string;
  /** Sends the record to every partition of its topic, regardless of its key. */
  sendToEveryPartition?: boolean;
};

/** A record as it arrived. Its bytes are untrusted until they are parsed. */
export type ReceivedRecord = {
  topic: string;
  partition: number;
  /** A 64-bit number in decimal. */
  offset: string;
  /** Undefined if the record has no key; it is then unordered. */
  key: string | undefined;
  headers: Record<string, string>;
  value: Buffer | undefined;
  /**
   * The log that `offset` belongs to. Undefined on a bus that stores nothing and so cannot be
   * re-read.
   */
  log?: PartitionLog;
};

/** A partition of a topic. */
export type TopicPartition = { topic: string; partition: number };

/**
 * Identifies a partition's log as a group reads it. `clusterId` names the Kafka cluster.
 * `resetCount` is how often the group restarted at the log's beginning because the log no longer had
 * the next record. An offset is meaningful only within one log.
 */
export type PartitionLog = { clusterId: string; resetCount: number };

/**
 * How far a group has read a partition: the next offset to read, within one log. `lastRecord` is a
 * digest of the record before that offset, if known. A member that joins re-reads that record to
 * verify that the log is still the same.
 */
export type Position = PartitionLog & { nextOffset: bigint; lastRecord?: string };

/**
 * Stores a group's positions next to the state that the group writes, not on the bus. A group with
 * a restored database therefore resumes where that state ends.
 */
export type PositionStore = {
  /** Returns the positions of a topic, by partition. */
  read(topic: string): Promise<ReadonlyMap<number, Position>>;
  /** Sets a position if the stored one still equals `from`. Returns whether it was set. */
  replace(
    topicPartition: TopicPartition,
    update: { from: Position | undefined; to: Position },
  ): Promise<boolean>;
  /** Called with the position where a member starts to read a partition. */
  onSeek(topicPartition: TopicPartition, position: Position): void;
};

/** A member of a group that receives records. */
export type Subscription = {
  /** Lets the current chunk commit, stores the position, then stops. Always completes. */
  stop(): Promise<void>;
};

/**
 * The number of records handled, counted from the first. `rewindReason` is set if the member must
 * read again: `behind` means that the group's stored position lies before these records; `log_lost`
 * means that their log is not the one that the position was stored for.
 */
export type BatchResult = { handledCount: number; rewindReason?: "behind" | "log_lost" };

/**
 * Handles records of one partition in order. Unhandled records are delivered again, and a record
 * may be delivered twice. After the signal aborts, the handler starts nothing new: either another
 * member owns the partition or the subscription is stopping.
 */
export type BatchHandler = (
  records: readonly ReceivedRecord[],
  signal: AbortSignal,
) => Promise<BatchResult>;

/**
 * Carries events between services. Kafka and the local adapter implement the same contract: records
 * with the same key arrive in the order they were sent, at least once, at one member of every
 * group.
 */
export type Bus = {
  /**
   * Resolves once all records are stored (Kafka: on all in-sync replicas; local: once every group
   * has handled them). A rejection does not mean that nothing was stored: retry with all records.
   */
  publish(records: readonly OutgoingRecord[]): Promise<void>;
  /**
   * Joins a group. On a bus that stores records, the group starts at its positions; a new group
   * starts at the oldest record. If the handler throws, the same records are delivered again with
   * growing backoff, without a limit.
   */
  subscribe(options: {
    group: string;
    topics: readonly string[];
    handle: BatchHandler;
    positionStore?: PositionStore;
    /**
     * The minimum time from the start of one batch to the start of the next, for consumers that
     * prefer larger batches over low latency. Default: no minimum. A bus that stores nothing
     * ignores it.
     */
    batchIntervalMs?: number;
  }): Promise<Subscription>;
  /** The longest time that a send can stay in flight after its sender has died or timed out. */
  readonly sendTimeoutMs: number;
  /** How often a relay polls for events that it was not notified of. */
  readonly pollMs: number;
  /** Stops every subscription and disconnects from the broker. */
  close(): Promise<void>;
};
