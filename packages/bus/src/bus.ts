/** A record on its way out: an event with the CloudEvents attributes that become its headers. */
export type OutgoingRecord = {
  topic: string;
  key: string;
  headers: Record<string, string>;
  value: string;
  /** It goes to each partition of its topic, whatever its key. */
  sendToEveryPartition?: boolean;
};

/** A record as it arrived: a stranger's bytes until they are read. */
export type ReceivedRecord = {
  topic: string;
  partition: number;
  /** A 64-bit number in decimal. */
  offset: string;
  /** Undefined if the record has none; then it has no order among the others. */
  key: string | undefined;
  headers: Record<string, string>;
  value: Buffer | undefined;
  /** Whose offset it is. Undefined where the bus keeps nothing: then nobody can come back to it. */
  log?: PartitionLog;
};

/** A partition of a topic. */
export type TopicPartition = { topic: string; partition: number };

/**
 * A partition's log as a group reads it: of one cluster, and after so many resets, where the log had
 * lost what came next. An offset says nothing about another log.
 */
export type PartitionLog = { clusterId: string; resetCount: number };

/**
 * How far a group has come in a partition: the offset that it reads next, of one log. `lastRecord`
 * names what lies before that, where it is known: who begins there hands over that record once more,
 * so that it can be seen whether the log is still the same.
 */
export type Position = PartitionLog & { nextOffset: bigint; lastRecord?: string };

/**
 * Where a group keeps its positions: with what it has applied, not on the bus. So a group whose
 * state is restored begins where that state ends.
 */
export type PositionStore = {
  /** The positions of a topic, by partition. */
  read(topic: string): Promise<ReadonlyMap<number, Position>>;
  /** Sets a position, unless it is not the given one any more. Answers whether it is set. */
  replace(
    topicPartition: TopicPartition,
    update: { from: Position | undefined; to: Position },
  ): Promise<boolean>;
  /** Told where a member begins to read. */
  onSeek(topicPartition: TopicPartition, position: Position): void;
};

/** A member of a group that is being handed records. */
export type Subscription = {
  /** Lets the chunk under way be committed and keeps its place, then takes no more. Never hangs. */
  stop(): Promise<void>;
};

/**
 * How many records are done, counted from the first. `goBack`: the group's position lies before them, so
 * that the member must go back to it; or their log is not the one that the position was kept for.
 */
export type BatchResult = { handledCount: number; rewindReason?: "behind" | "log_lost" };

/**
 * Handles records of one partition in order. What is not done comes again. It may hear a record
 * twice. After the signal aborts (another member has the
 * records, or the subscription stops) it begins nothing more.
 */
export type BatchHandler = (
  records: readonly ReceivedRecord[],
  signal: AbortSignal,
) => Promise<BatchResult>;

/**
 * Where events go between services. Kafka and the local adapter keep the same contract: records of
 * a key arrive in the order they were sent, at least once, at one member of every group.
 */
export type Bus = {
  /**
   * Resolves once all records are kept (Kafka: by all in-sync replicas; local: once every group has
   * handled them). If it rejects, some may have been kept all the same: send all of them again.
   */
  publish(records: readonly OutgoingRecord[]): Promise<void>;
  /**
   * Joins a group. It begins where its positions say, on a bus that keeps records; a group that is
   * new starts at the first record there is. A handler that throws gets the same records again,
   * after growing waits, however long that takes.
   */
  subscribe(options: {
    group: string;
    topics: readonly string[];
    handle: BatchHandler;
    positionStore?: PositionStore;
    /**
     * How long after a batch was begun the next one may come, for who is in no hurry: what comes
     * meanwhile comes together. None if left out; a bus that keeps nothing does not wait.
     */
    batchIntervalMs?: number;
  }): Promise<Subscription>;
  /** How long a send may still be under way after its sender has died or given up. */
  readonly sendTimeoutMs: number;
  /** How often a relay looks for events that it was not told of. */
  readonly pollMs: number;
  /** Stops every subscription and lets the broker go. */
  close(): Promise<void>;
};
