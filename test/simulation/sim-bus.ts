import type {
  BatchHandler,
  Bus,
  BatchResult,
  OutgoingRecord,
  PartitionLog,
  Position,
  PositionStore,
  ReceivedRecord,
} from "@payment-links/bus";
import { type SimProcess, type SimulatedWorld, waitForever, runAs } from "./simulated-world.ts";

const partitionCount = 3;
const batchRecordsMax = 6;
const firstWaitMs = 100;
const waitMsMax = 5_000;

type TopicPartition = { topic: string; partition: number };

type Member = {
  simProcess: SimProcess;
  group: string;
  topics: readonly string[];
  handleBatch: BatchHandler;
  positionStore: PositionStore | undefined;
  isStopped: boolean;
};

/** A partition that is assigned to a member of a group. */
type PartitionAssignment = TopicPartition & {
  member: Member;
  /** The next offset to read. Undefined until the group's stored position has been read. */
  position: number | undefined;
  /** The log to which the offsets belong. */
  log: PartitionLog | undefined;
  /** The record before its position is not the one that was applied. */
  isLogLost: boolean;
  isBusy: boolean;
  failureCount: number;
  notBeforeMs: number;
  revocation: AbortController;
  onIdle: () => void;
};

type Group = {
  committed: Map<string, number>;
  members: Member[];
  assignments: PartitionAssignment[];
};

const toPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** Receives the bus events that the model tracks. */
export type BusObserver = {
  onPublished: (record: OutgoingRecord) => void;
  /** The record can have been consumed before. */
  onLost: (record: ReceivedRecord) => void;
};

/**
 * Creates a simulated broker with exactly the guarantees of the bus. Records with the same key stay
 * in order and are delivered at least once. Between keys, groups and members, any order is
 * possible.
 */
export const createSimBus = (world: SimulatedWorld, observer: BusObserver) => {
  const logs = new Map<string, ReceivedRecord[]>();
  const groups = new Map<string, Group>();
  const partitionsByKey = new Map<string, number>();
  const visibleAtMs = new WeakMap<ReceivedRecord, number>();
  let isBrokerDown = false;
  let lagMsMax = 0;
  /** Delays one topic's records for one group. */
  let delay: { group: string; topic: string; ms: number } | undefined;
  let clusterNumber = 1;

  const clusterId = (): string => `cluster-${clusterNumber}`;

  const getLog = (topicPartition: TopicPartition): ReceivedRecord[] => {
    const log = logs.get(toPartitionKey(topicPartition)) ?? [];
    logs.set(toPartitionKey(topicPartition), log);
    return log;
  };

  /**
   * Assigns partitions in the order in which keys first appear. Keys are not derived from the seed,
   * so their text must not matter.
   */
  const findPartition = (key: string): number => {
    const knownPartition = partitionsByKey.get(key) ?? partitionsByKey.size % partitionCount;
    partitionsByKey.set(key, knownPartition);
    return knownPartition;
  };

  const appendToPartition = (
    partition: number,
    { topic, key, headers, value }: OutgoingRecord,
  ): void => {
    const topicPartition = { topic, partition };
    const log = getLog(topicPartition);
    const offset = String(log.length);
    const recordWithoutValue = { ...topicPartition, offset, key, headers };
    const previousRecord = log.at(-1);
    const earliestVisibleAtMs = world.nowMs() + (lagMsMax > 0 ? world.random.below(lagMsMax) : 0);
    const record = { ...recordWithoutValue, value: Buffer.from(value) };
    visibleAtMs.set(
      record,
      Math.max(
        earliestVisibleAtMs,
        previousRecord === undefined ? 0 : (visibleAtMs.get(previousRecord) ?? 0),
      ),
    );
    log.push(record);
  };

  /** Returns the number of records after an offset that a group's consumers can currently read. */
  const countVisible = (
    group: string,
    topicPartition: TopicPartition,
    startOffset: number,
  ): number => {
    const log = getLog(topicPartition);
    const isDelayed = delay?.group === group && delay.topic === topicPartition.topic;
    const nowMs = world.nowMs() - (isDelayed ? (delay?.ms ?? 0) : 0);
    let endOffset = startOffset;
    for (let nextRecord = log[endOffset]; nextRecord !== undefined; nextRecord = log[endOffset]) {
      if ((visibleAtMs.get(nextRecord) ?? 0) > nowMs) break;
      endOffset += 1;
    }
    return endOffset - startOffset;
  };

  const appendRecord = (record: OutgoingRecord): void => {
    if (record.sendToEveryPartition === true) {
      const headers = { ...record.headers, partitions: String(partitionCount) };
      for (let partition = 0; partition < partitionCount; partition += 1) {
        appendToPartition(partition, { ...record, headers });
      }
    } else {
      appendToPartition(findPartition(record.key), record);
    }
    observer.onPublished(record);
  };

  const publish = (simProcess: SimProcess, records: readonly OutgoingRecord[]): Promise<void> => {
    if (simProcess.isDead) return waitForever();
    return new Promise((resolve, reject) => {
      world.schedule({
        simProcess,
        kind: "publish",
        description: `${records.length} to ${[...new Set(records.map(({ topic }) => topic))].join()}`,
        crashPoints: ["fail before", "fail after", "crash before", "crash after"],
        perform: async (crashPoint) => {
          const rejectPublish = (traceText: string) => {
            const error = new Error("the broker did not acknowledge the records");
            return { traceText, deliver: () => reject(error) };
          };
          if (isBrokerDown) return rejectPublish("the broker is down");
          if (crashPoint === "fail before") return rejectPublish("stored nothing");
          // Some partitions can have stored their part of a batch completely, while another has not
          // stored its part.
          const isStored = (record: OutgoingRecord) =>
            crashPoint !== "fail after" ||
            record.sendToEveryPartition === true ||
            findPartition(record.key) !== lostPartition;
          const lostPartition = world.random.below(partitionCount + 1);
          for (const record of records) if (isStored(record)) appendRecord(record);
          if (crashPoint === "fail after") return rejectPublish("stored some");
          return { traceText: "stored", deliver: resolve };
        },
      });
    });
  };

  const startAssignments = (group: Group): void => {
    for (const assignment of group.assignments) rewind(group, assignment);
  };

  /** Reassigns the partitions of a group's topics to its members. */
  const rebalance = (group: Group): void => {
    for (const assignment of group.assignments) {
      assignment.revocation.abort("rebalanced");
      assignment.onIdle();
    }
    const { members } = group;
    const topics = members[0]?.topics ?? [];
    const startIndex = members.length === 0 ? 0 : world.random.below(members.length);
    group.assignments = topics.flatMap((topic) =>
      Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition })).flatMap(
        (topicPartition, index): PartitionAssignment[] => {
          const member = members[(startIndex + index) % members.length];
          if (member === undefined) return [];
          return [
            {
              ...topicPartition,
              member,
              position: undefined,
              log: undefined,
              isLogLost: false,
              isBusy: false,
              failureCount: 0,
              notBeforeMs: 0,
              revocation: new AbortController(),
              onIdle: () => {},
            },
          ];
        },
      ),
    );
    startAssignments(group);
  };

  /**
   * Returns the group's stored position if the log still has it, otherwise the beginning. A group
   * without a position store continues at its committed offset.
   */
  const findPosition = async (group: Group, assignment: PartitionAssignment): Promise<Position> => {
    const { member, partition, topic } = assignment;
    const offset = Math.min(
      group.committed.get(toPartitionKey(assignment)) ?? 0,
      getLog(assignment).length,
    );
    const initialPosition = { clusterId: clusterId(), resetCount: 0, nextOffset: BigInt(offset) };
    if (member.positionStore === undefined) return initialPosition;
    const storedPosition = (await member.positionStore.read(topic)).get(partition);
    const isPositionLost =
      storedPosition !== undefined &&
      (storedPosition.clusterId !== clusterId() ||
        Number(storedPosition.nextOffset) > getLog(assignment).length ||
        assignment.isLogLost);
    if (isPositionLost) world.count("positions reset");
    if (isPositionLost && assignment.isLogLost) world.count("a log had grown again");
    if (storedPosition !== undefined && !isPositionLost) return storedPosition;
    const newPosition =
      storedPosition === undefined
        ? initialPosition
        : { ...initialPosition, resetCount: storedPosition.resetCount + 1, nextOffset: 0n };
    if (
      !(await member.positionStore.replace(
        { topic, partition },
        { from: storedPosition, to: newPosition },
      ))
    ) {
      throw new Error("the position changed in the meantime");
    }
    return newPosition;
  };

  const seekToPosition = async (group: Group, assignment: PartitionAssignment): Promise<void> => {
    const { revocation, member, partition, topic } = assignment;
    const clock = world.createClock(member.simProcess);
    for (let attemptCount = 1; !revocation.signal.aborted; attemptCount += 1) {
      try {
        const position = await findPosition(group, assignment);
        if (revocation.signal.aborted) return;
        member.positionStore?.onSeek({ topic, partition }, position);
        const { lastRecord, nextOffset } = position;
        assignment.position = Number(nextOffset) - (lastRecord === undefined ? 0 : 1);
        assignment.log = position;
        assignment.isLogLost = false;
        return;
      } catch {
        const waitMs = Math.min(firstWaitMs * 2 ** attemptCount, waitMsMax);
        await clock.sleepUntil(new Date(clock.now().getTime() + waitMs), revocation.signal);
      }
    }
  };

  const rewind = (group: Group, assignment: PartitionAssignment): void => {
    assignment.position = undefined;
    runAs(assignment.member.simProcess, () => void seekToPosition(group, assignment));
  };

  const deliverBatch = (group: Group, assignment: PartitionAssignment): void => {
    const { member } = assignment;
    const startOffset = assignment.position ?? 0;
    const countMax = Math.min(batchRecordsMax, countVisible(member.group, assignment, startOffset));
    const count = 1 + world.random.below(countMax);
    const { log } = assignment;
    const records = getLog(assignment)
      .slice(startOffset, startOffset + count)
      .map((record) => (log === undefined ? record : { ...record, log }));
    const commitsImmediately = world.random.chance(0.7);
    assignment.isBusy = true;
    const onBatchHandled = ({ rewindReason: reason, handledCount }: BatchResult) => {
      assignment.isBusy = false;
      if (reason !== undefined) {
        world.count("a position was behind");
        assignment.isLogLost = reason === "log_lost";
        rewind(group, assignment);
      } else if (handledCount === 0) {
        assignment.failureCount += 1;
        const waitMs = Math.min(firstWaitMs * 2 ** assignment.failureCount, waitMsMax);
        assignment.notBeforeMs = world.nowMs() + waitMs;
      } else {
        assignment.failureCount = 0;
        assignment.position = startOffset + handledCount;
        // An uncommitted offset is lost when its member leaves. The records after the last commit
        // are then delivered again.
        if (commitsImmediately && !assignment.revocation.signal.aborted) {
          group.committed.set(toPartitionKey(assignment), assignment.position);
        }
      }
      assignment.onIdle();
    };
    runAs(member.simProcess, () => member.handleBatch(records, assignment.revocation.signal)).then(
      (batchResult) => onBatchHandled(batchResult),
      () => onBatchHandled({ handledCount: 0 }),
    );
  };

  const removeMember = (member: Member): void => {
    const group = groups.get(member.group);
    member.isStopped = true;
    if (group === undefined || !group.members.includes(member)) return;
    group.members = group.members.filter((otherMember) => otherMember !== member);
    rebalance(group);
  };

  return {
    /** Returns the bus client of a process. */
    createBus: (simProcess: SimProcess): Bus => ({
      sendTimeoutMs: 2_000,
      pollMs: 1_000,
      publish: (records) => publish(simProcess, records),
      subscribe: async ({ group: name, topics, handle: handleBatch, positionStore }) => {
        if (simProcess.isDead) return waitForever();
        const group: Group = groups.get(name) ?? {
          committed: new Map(),
          members: [],
          assignments: [],
        };
        groups.set(name, group);
        const member: Member = {
          simProcess,
          group: name,
          topics,
          handleBatch,
          positionStore,
          isStopped: false,
        };
        group.members.push(member);
        rebalance(group);
        return { stop: async () => removeMember(member) };
      },
      close: async () => {},
    }),
    /** Returns the batches that can be delivered now, as possible next steps. */
    listDeliverableBatches: (): readonly { description: string; deliver: () => void }[] =>
      [...groups].flatMap(([name, group]) =>
        group.assignments
          .filter(
            (assignment) =>
              !isBrokerDown &&
              !assignment.isBusy &&
              assignment.notBeforeMs <= world.nowMs() &&
              assignment.position !== undefined &&
              countVisible(name, assignment, assignment.position) > 0,
          )
          .map((assignment) => ({
            description: `${name} receives ${toPartitionKey(assignment)} from ${assignment.position ?? 0}`,
            deliver: () => deliverBatch(group, assignment),
          })),
      ),
    /**
     * Rebalances a random group, as if a member left and rejoined. All members continue at their
     * committed offsets.
     */
    rebalanceRandomGroup: (): void => {
      const nonEmptyGroups = [...groups.values()].filter(({ members }) => members.length > 0);
      if (nonEmptyGroups.length > 0) rebalance(world.random.pick(nonEmptyGroups));
    },
    removeProcess: (simProcess: SimProcess): void => {
      for (const group of groups.values()) {
        for (const member of group.members.filter(
          (candidate) => candidate.simProcess === simProcess,
        ))
          removeMember(member);
      }
    },
    setBrokerDown: (value: boolean): void => {
      isBrokerDown = value;
    },
    isBrokerDown: () => isBrokerDown,
    /** Sets the maximum delay after which consumers see new records. */
    setLag: (value: number): void => {
      lagMsMax = value;
    },
    /** Sets the delay of a topic for a group. Undefined removes the delay. */
    setDelay: (value: { group: string; topic: string; ms: number } | undefined): void => {
      delay = value;
    },
    /** Replaces the cluster or loses the newest records of each log. All members rejoin. */
    truncateLogs: (): void => {
      const isNewCluster = world.random.chance(0.5);
      if (isNewCluster) clusterNumber += 1;
      for (const log of logs.values()) {
        const retainedCount = isNewCluster ? 0 : world.random.below(log.length + 1);
        for (const lostRecord of log.splice(retainedCount)) observer.onLost(lostRecord);
      }
      for (const group of groups.values()) {
        if (isNewCluster) group.committed.clear();
        rebalance(group);
      }
    },
    /** Returns true if each group has processed all records. */
    isFullyConsumed: (): boolean =>
      [...groups.values()].every((group) =>
        group.assignments.every(
          (assignment) => !assignment.isBusy && assignment.position === getLog(assignment).length,
        ),
      ),
  };
};

export type SimBus = ReturnType<typeof createSimBus>;
