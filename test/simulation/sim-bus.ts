import type {
  BatchHandler,
  Bus,
  HandledRecords,
  OutgoingRecord,
  PartitionLog,
  Position,
  PositionStore,
  ReceivedRecord,
} from "@payment-links/bus";
import { type Owner, type World, never, runAs } from "./world.ts";

const partitionCount = 3;
const batchRecordsMax = 6;
const firstWaitMs = 100;
const waitMsMax = 5_000;

type Place = { topic: string; partition: number };

type Member = {
  owner: Owner;
  group: string;
  topics: readonly string[];
  handle: BatchHandler;
  positions: PositionStore | undefined;
  isStopped: boolean;
};

/** A group's reading of one partition, by the member that has it now. */
type Reading = Place & {
  member: Member;
  /** Where it reads next; undefined until its group's own position has been read. */
  position: number | undefined;
  /** Whose offsets its records have. */
  log: PartitionLog | undefined;
  /** Another record than the one that was applied lies before its position. */
  isLost: boolean;
  isBusy: boolean;
  failures: number;
  notBeforeMs: number;
  gone: AbortController;
  idle: () => void;
};

type Group = { committed: Map<string, number>; members: Member[]; readings: Reading[] };

const nameOf = ({ topic, partition }: Place): string => `${topic}/${partition}`;

/** What the bus shows to whoever watches the world. */
export type BusWatch = {
  kept: (record: OutgoingRecord) => void;
  /** It may have been heard before. */
  lost: (record: ReceivedRecord) => void;
};

/**
 * A broker of the simulation's own: it keeps the bus' contract and nothing beyond. Records of a key stay
 * in order and come at least once; between keys, groups and members anything may happen.
 */
export const createSimBus = (world: World, watch: BusWatch) => {
  const logs = new Map<string, ReceivedRecord[]>();
  const groups = new Map<string, Group>();
  const partitionOf = new Map<string, number>();
  const shownAtMs = new WeakMap<ReceivedRecord, number>();
  let isAway = false;
  let lagMsMax = 0;
  /** One group receives the records of one topic so much later. */
  let delay: { group: string; topic: string; ms: number } | undefined;
  let clusterNumber = 1;

  const clusterId = (): string => `cluster-${clusterNumber}`;

  const logOf = (place: Place): ReceivedRecord[] => {
    const log = logs.get(nameOf(place)) ?? [];
    logs.set(nameOf(place), log);
    return log;
  };

  /** By a key's first appearance: its text is drawn, and must choose nothing. */
  const findPartition = (key: string): number => {
    const known = partitionOf.get(key) ?? partitionOf.size % partitionCount;
    partitionOf.set(key, known);
    return known;
  };

  const keepAt = (partition: number, { topic, key, headers, value }: OutgoingRecord): void => {
    const place = { topic, partition };
    const log = logOf(place);
    const offset = String(log.length);
    const kept = { ...place, offset, key, headers };
    const before = log.at(-1);
    const atMs = world.nowMs() + (lagMsMax > 0 ? world.random.below(lagMsMax) : 0);
    const record = { ...kept, value: Buffer.from(value) };
    shownAtMs.set(record, Math.max(atMs, before === undefined ? 0 : (shownAtMs.get(before) ?? 0)));
    log.push(record);
  };

  /** How many records from a place on a group's consumers can see by now. */
  const countShown = (group: string, place: Place, from: number): number => {
    const log = logOf(place);
    const isDelayed = delay?.group === group && delay.topic === place.topic;
    const nowMs = world.nowMs() - (isDelayed ? (delay?.ms ?? 0) : 0);
    let end = from;
    for (let next = log[end]; next !== undefined; next = log[end]) {
      if ((shownAtMs.get(next) ?? 0) > nowMs) break;
      end += 1;
    }
    return end - from;
  };

  const keep = (record: OutgoingRecord): void => {
    if (record.toEveryPartition === true) {
      const headers = { ...record.headers, partitions: String(partitionCount) };
      for (let partition = 0; partition < partitionCount; partition += 1) {
        keepAt(partition, { ...record, headers });
      }
    } else {
      keepAt(findPartition(record.key), record);
    }
    watch.kept(record);
  };

  const publish = (owner: Owner, records: readonly OutgoingRecord[]): Promise<void> => {
    if (owner.isDead) return never();
    return new Promise((resolve, reject) => {
      world.park({
        owner,
        kind: "publish",
        what: `${records.length} to ${[...new Set(records.map(({ topic }) => topic))].join()}`,
        fates: ["fail before", "fail after", "crash before", "crash after"],
        perform: async (fate) => {
          const refuse = (word: string) => {
            const error = new Error("the broker does not acknowledge");
            return { word, deliver: () => reject(error) };
          };
          if (isAway) return refuse("the broker is away");
          if (fate === "fail before") return refuse("kept nothing");
          // Some of a batch may have been kept, in some partitions whole, in others not.
          const isKept = (record: OutgoingRecord) =>
            fate !== "fail after" ||
            record.toEveryPartition === true ||
            findPartition(record.key) !== lost;
          const lost = world.random.below(partitionCount + 1);
          for (const record of records) if (isKept(record)) keep(record);
          if (fate === "fail after") return refuse("kept some");
          return { word: "kept", deliver: resolve };
        },
      });
    });
  };

  const begin = (group: Group): void => {
    for (const reading of group.readings) goBack(group, reading);
  };

  /** Shares the partitions of a group's topics among its members anew. */
  const rebalance = (group: Group): void => {
    for (const reading of group.readings) {
      reading.gone.abort("rebalanced");
      reading.idle();
    }
    const { members } = group;
    const topics = members[0]?.topics ?? [];
    const turn = members.length === 0 ? 0 : world.random.below(members.length);
    group.readings = topics.flatMap((topic) =>
      Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition })).flatMap(
        (place, index): Reading[] => {
          const member = members[(turn + index) % members.length];
          if (member === undefined) return [];
          return [
            {
              ...place,
              member,
              position: undefined,
              log: undefined,
              isLost: false,
              isBusy: false,
              failures: 0,
              notBeforeMs: 0,
              gone: new AbortController(),
              idle: () => {},
            },
          ];
        },
      ),
    );
    begin(group);
  };

  /**
   * Puts a member where its group's position says, as long as the log has that; at the beginning where it
   * has not. A group without positions is where it was written down to be.
   */
  const findPosition = async (group: Group, reading: Reading): Promise<Position> => {
    const { member, partition, topic } = reading;
    const offset = Math.min(group.committed.get(nameOf(reading)) ?? 0, logOf(reading).length);
    const first = { clusterId: clusterId(), resetCount: 0, nextOffset: BigInt(offset) };
    if (member.positions === undefined) return first;
    const from = (await member.positions.read(topic)).get(partition);
    const isLost =
      from !== undefined &&
      (from.clusterId !== clusterId() ||
        Number(from.nextOffset) > logOf(reading).length ||
        reading.isLost);
    if (isLost) world.count("positions reset");
    if (isLost && reading.isLost) world.count("a log had grown again");
    if (from !== undefined && !isLost) return from;
    const to =
      from === undefined ? first : { ...first, resetCount: from.resetCount + 1, nextOffset: 0n };
    if (!(await member.positions.replace({ topic, partition }, { from, to }))) {
      throw new Error("the position has just moved");
    }
    return to;
  };

  const place = async (group: Group, reading: Reading): Promise<void> => {
    const { gone, member, partition, topic } = reading;
    const clock = world.clockOf(member.owner);
    for (let failures = 1; !gone.signal.aborted; failures += 1) {
      try {
        const position = await findPosition(group, reading);
        if (gone.signal.aborted) return;
        member.positions?.begin({ topic, partition }, position);
        const { lastRecord, nextOffset } = position;
        reading.position = Number(nextOffset) - (lastRecord === undefined ? 0 : 1);
        reading.log = position;
        reading.isLost = false;
        return;
      } catch {
        const waitMs = Math.min(firstWaitMs * 2 ** failures, waitMsMax);
        await clock.until(new Date(clock.now().getTime() + waitMs), gone.signal);
      }
    }
  };

  const goBack = (group: Group, reading: Reading): void => {
    reading.position = undefined;
    runAs(reading.member.owner, () => void place(group, reading));
  };

  const handOver = (group: Group, reading: Reading): void => {
    const { member } = reading;
    const at = reading.position ?? 0;
    const countMax = Math.min(batchRecordsMax, countShown(member.group, reading, at));
    const count = 1 + world.random.below(countMax);
    const { log } = reading;
    const records = logOf(reading)
      .slice(at, at + count)
      .map((record) => (log === undefined ? record : { ...record, log }));
    const commitsAtOnce = world.random.chance(0.7);
    reading.isBusy = true;
    const settled = ({ goBack: reason, handledCount }: HandledRecords) => {
      reading.isBusy = false;
      if (reason !== undefined) {
        world.count("a position was behind");
        reading.isLost = reason === "log_lost";
        goBack(group, reading);
      } else if (handledCount === 0) {
        reading.failures += 1;
        const waitMs = Math.min(firstWaitMs * 2 ** reading.failures, waitMsMax);
        reading.notBeforeMs = world.nowMs() + waitMs;
      } else {
        reading.failures = 0;
        reading.position = at + handledCount;
        // A place that is not written down yet is lost with its member: what follows comes again.
        if (commitsAtOnce && !reading.gone.signal.aborted) {
          group.committed.set(nameOf(reading), reading.position);
        }
      }
      reading.idle();
    };
    runAs(member.owner, () => member.handle(records, reading.gone.signal)).then(
      (handled) => settled(handled),
      () => settled({ handledCount: 0 }),
    );
  };

  const leave = (member: Member): void => {
    const group = groups.get(member.group);
    member.isStopped = true;
    if (group === undefined || !group.members.includes(member)) return;
    group.members = group.members.filter((other) => other !== member);
    rebalance(group);
  };

  return {
    /** The bus as a process sees it. */
    of: (owner: Owner): Bus => ({
      sendTimeoutMs: 2_000,
      pollMs: 1_000,
      publish: (records) => publish(owner, records),
      subscribe: async ({ group: name, topics, handle, positions }) => {
        if (owner.isDead) return never();
        const group: Group = groups.get(name) ?? {
          committed: new Map(),
          members: [],
          readings: [],
        };
        groups.set(name, group);
        const member: Member = { owner, group: name, topics, handle, positions, isStopped: false };
        group.members.push(member);
        rebalance(group);
        return { stop: async () => leave(member) };
      },
      close: async () => {},
    }),
    /** The records that could be handed over now, as things that may happen next. */
    offers: (): readonly { what: string; begin: () => void }[] =>
      [...groups].flatMap(([name, group]) =>
        group.readings
          .filter(
            (reading) =>
              !isAway &&
              !reading.isBusy &&
              reading.notBeforeMs <= world.nowMs() &&
              reading.position !== undefined &&
              countShown(name, reading, reading.position) > 0,
          )
          .map((reading) => ({
            what: `${name} hears ${nameOf(reading)} from ${reading.position ?? 0}`,
            begin: () => handOver(group, reading),
          })),
      ),
    /** A member of some group goes and comes: everybody reads on from what was written down. */
    rebalanceAny: (): void => {
      const all = [...groups.values()].filter(({ members }) => members.length > 0);
      if (all.length > 0) rebalance(world.random.pick(all));
    },
    /** A process was killed: its members are gone. */
    drop: (owner: Owner): void => {
      for (const group of groups.values()) {
        for (const member of group.members.filter((one) => one.owner === owner)) leave(member);
      }
    },
    setAway: (value: boolean): void => {
      isAway = value;
    },
    isAway: () => isAway,
    /** From now on consumers see what is kept up to so much later. */
    setLag: (value: number): void => {
      lagMsMax = value;
    },
    /** From now on a group receives a topic so much later; undefined: none does. */
    setDelay: (value: { group: string; topic: string; ms: number } | undefined): void => {
      delay = value;
    },
    /** The broker is another one, or has forgotten the newest records: all join it anew. */
    loseLog: (): void => {
      const isOther = world.random.chance(0.5);
      if (isOther) clusterNumber += 1;
      for (const log of logs.values()) {
        const kept = isOther ? 0 : world.random.below(log.length + 1);
        for (const lost of log.splice(kept)) watch.lost(lost);
      }
      for (const group of groups.values()) {
        if (isOther) group.committed.clear();
        rebalance(group);
      }
    },
    /** Whether each group has handled all there is. */
    isRead: (): boolean =>
      [...groups.values()].every((group) =>
        group.readings.every(
          (reading) => !reading.isBusy && reading.position === logOf(reading).length,
        ),
      ),
  };
};

export type SimBus = ReturnType<typeof createSimBus>;
