/** A record to publish: an event, with its CloudEvents attributes as headers. */
export type OutgoingRecord = {
  topic: string;
  key: string;
  headers: Record<string, string>;
  value: string;
  /** Sends the record to every partition of its topic, regardless of its key. */
  sendToEveryPartition?: boolean;
};

/** A received record. Its bytes are untrusted until they are parsed. */
export type ReceivedRecord = {
  topic: string;
  partition: number;
  /** A 64-bit number in decimal. */
  offset: string;
  /** Undefined if the record has no key. Records without a key are not ordered. */
  key: string | undefined;
  headers: Record<string, string>;
  value: Buffer | undefined;
  /** The log that `offset` belongs to. Undefined on a bus that does not store records. */
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
 * digest of the record before that offset, if known. A joining member reads that record again to
 * verify that the log is still the same.
 */
export type Position = PartitionLog & { nextOffset: bigint; lastRecord?: string };

/**
 * Stores a group's positions in the database that holds the group's state, instead of on the bus.
 * If that database is restored, the group resumes at the position that matches the restored state.
 */
export type PositionStore = {
  /** Returns the positions of a topic, by partition. */
  read(topic: string): Promise<ReadonlyMap<number, Position>>;
  /** Stores a position if the current one still equals `from`. Returns whether it was stored. */
  replace(
    topicPartition: TopicPartition,
    update: { from: Position | undefined; to: Position },
  ): Promise<boolean>;
  /** Called with the position at which a member starts to read a partition. */
  onSeek(topicPartition: TopicPartition, position: Position): void;
};

/** A member of a group that receives records. */
export type Subscription = {
  /**
   * Waits until the current chunk is committed, stores the position and stops. Always completes.
   */
  stop(): Promise<void>;
};

/**
 * The number of handled records, counted from the first one. `rewindReason` is set if the member
 * must rewind. `behind` means that the group's stored position is before these records. `log_lost`
 * means that the position was stored for a different log.
 */
export type BatchResult = { handledCount: number; rewindReason?: "behind" | "log_lost" };

/**
 * Handles records of one partition in order. Unhandled records are delivered again, and a record
 * can be delivered twice. After the signal aborts, the handler must not start new work, because
 * another member owns the partition or the subscription is stopping.
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
   * has handled them). A rejection does not prove that no record was stored, so the caller must
   * retry all records.
   */
  publish(records: readonly OutgoingRecord[]): Promise<void>;
  /**
   * Joins a group. On a bus that stores records, the group resumes at its positions, and a new
   * group starts at the oldest record. If the handler throws, the same records are delivered again
   * with growing backoff, without a limit.
   */
  subscribe(options: {
    group: string;
    topics: readonly string[];
    handle: BatchHandler;
    positionStore?: PositionStore;
    /**
     * The minimum time from the start of one batch to the start of the next, for consumers that
     * prefer larger batches over low latency. Default: no minimum. The local bus ignores it.
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
