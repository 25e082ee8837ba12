import type { Admin, Consumer } from "kafkajs";
import type { Counter } from "prom-client";
import { afterMs, systemClock } from "@payment-links/runtime";
import type { HandledRecords, PartitionLog, Place, Position, PositionStore } from "./bus.ts";
import { endsWithin } from "./ends-within.ts";
import { type KafkaConnection, openKafka } from "./kafka-client.ts";
import { retryAt } from "./retry-at.ts";

/** Puts a member of a group where the group's positions say. */
export type KafkaPlaces = {
  /**
   * Lets records in that begin at this offset. Answers whose they are and whom to tell how far the
   * member has come, or nothing if the records are not what comes next: then they are left alone.
   */
  enter(place: Place, offset: string): Entered | undefined;
  /** Goes back to where the group's position says, or to the log's beginning if that is another. */
  goBack(place: Place, reason: GoBackReason): void;
};

type GoBackReason = NonNullable<HandledRecords["goBack"]>;

type Entered = {
  log: PartitionLog;
  reached: (nextOffset: bigint) => void;
  /** The handler has done with the records. */
  left: () => void;
};

type PlacesOptions = {
  connection: KafkaConnection;
  group: string;
  consumer: Consumer;
  positions: PositionStore;
  resets: Counter;
  /** How often the positions are looked at although nothing comes. */
  lookEveryMs: number;
  /** Aborted when the member is given up. */
  signal: AbortSignal;
};

/** Why a position cannot be kept: what the log has lost is read no more. */
type ResetReason = "other_cluster" | "log_lost" | "deleted_unread";

type Placed = Position & { place: Place };

type Parts = PlacesOptions & {
  /** Where each partition reads on; one that is absent has not been placed since the last join. */
  places: Map<string, Placed>;
  /** Partitions whose log has not what lies before the position, although it may have grown since. */
  lost: Set<string>;
  /**
   * Partitions of which records are with the handler, which finds by itself that they come too early. Put
   * back to before them, it would take what lies between for done.
   */
  handling: Set<string>;
  /** Counts the joins: what was asked for an earlier one comes too late. */
  joinCount: number;
};

const closeTimeoutMs = 5_000;
const placeName = ({ topic, partition }: Place): string => `${topic}/${partition}`;

/**
 * Follows a group's positions. At each join the member's partitions are held back until their
 * positions are read, for as long as that takes, and then read from there. Kafka's own offsets count
 * only for a partition that has no position yet.
 */
export const followPositions = (options: PlacesOptions): KafkaPlaces => {
  const parts: Parts = {
    ...options,
    places: new Map(),
    lost: new Set(),
    handling: new Set(),
    joinCount: 0,
  };
  const { consumer } = options;
  // kafkajs calls this before it fetches for the new assignment.
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    parts.joinCount += 1;
    parts.places.clear();
    void putBack(parts, payload.memberAssignment);
  });
  void lookAgain(parts);
  return {
    enter: (place, offset) => enter(parts, place, offset),
    goBack: (place, reason) => goBack(parts, place, reason),
  };
};

const enter = (parts: Parts, place: Place, offset: string): Entered | undefined => {
  const name = placeName(place);
  const { joinCount, places } = parts;
  const position = places.get(name);
  if (position === undefined) return undefined;
  if (BigInt(offset) < position.nextOffset) {
    // kafkajs begins anew by itself only where the broker knew no such offset.
    goBack(parts, place, "log_lost");
    return undefined;
  }
  const reached = (nextOffset: bigint) => {
    if (joinCount === parts.joinCount) places.set(name, { ...position, nextOffset });
  };
  parts.handling.add(name);
  const left = () => void parts.handling.delete(name);
  return { log: position, reached, left };
};

const goBack = (parts: Parts, place: Place, reason: GoBackReason): void => {
  if (reason === "log_lost") parts.lost.add(placeName(place));
  parts.places.delete(placeName(place));
  void putBack(parts, { [place.topic]: [place.partition] });
};

/**
 * Looks from time to time whether the database still knows what the member has committed. One that took
 * over with less, as after a fail-over, is else found out only by the next record of each partition.
 */
const lookAgain = async (parts: Parts): Promise<void> => {
  const { connection, group, lookEveryMs, signal } = parts;
  for (;;) {
    await systemClock.until(afterMs(systemClock, lookEveryMs), signal);
    if (signal.aborted) return;
    try {
      await goBackWhereBehind(parts);
    } catch (error) {
      connection.log.warn({ err: error, group }, "a consumer's positions could not be looked at");
    }
  }
};

const goBackWhereBehind = async (parts: Parts): Promise<void> => {
  const { places, positions, signal } = parts;
  // As they are before the database is asked: they go on meanwhile.
  const known = Map.groupBy(places, ([, { place }]) => place.topic);
  for (const [topic, some] of known) {
    const kept = await positions.read(topic);
    // The member may be stopped by now, and pauses nothing any more.
    if (signal.aborted) return;
    for (const [name, before] of some) {
      const { nextOffset = -1n } = kept.get(before.place.partition) ?? {};
      const isBehind = nextOffset < before.nextOffset && !parts.handling.has(name);
      if (isBehind && places.get(name) === before) goBack(parts, before.place, "behind");
    }
  }
};

type Assignment = Readonly<Record<string, readonly number[]>>;

/** Holds partitions back, and lets them go on from their positions. */
const putBack = async (parts: Parts, assignment: Assignment): Promise<void> => {
  const { connection, consumer, group, signal } = parts;
  const { joinCount } = parts;
  const isOver = () => signal.aborted || joinCount !== parts.joinCount;
  consumer.pause(topicPartitions(assignment));
  for (let failures = 1; !isOver(); failures += 1) {
    try {
      const found = await findPlaces(parts, assignment);
      if (isOver()) return;
      for (const one of found) begin(parts, one);
      consumer.resume(topicPartitions(assignment));
      return;
    } catch (error) {
      const told = { err: error, group, failures };
      connection.log.warn(told, "a consumer's positions could not be read yet; it waits");
    }
    await systemClock.until(retryAt(systemClock, failures), signal);
  }
};

const topicPartitions = (assignment: Assignment) =>
  Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));

const begin = (parts: Parts, { first, place, position }: Found): void => {
  const { consumer, positions } = parts;
  positions.begin(place, position);
  const { lastRecord, nextOffset } = position;
  const hasLast = lastRecord !== undefined && nextOffset > first;
  const from = hasLast ? nextOffset - 1n : nextOffset;
  consumer.seek({ ...place, offset: String(from) });
  parts.places.set(placeName(place), { ...position, place, nextOffset: from });
  parts.lost.delete(placeName(place));
};

/** `first` is where the log begins. */
type Found = { place: Place; position: Position; first: bigint };

const findPlaces = async (parts: Parts, assignment: Assignment): Promise<Found[]> => {
  const admin = openKafka(parts.connection, { retry: { retries: 1 } }).admin();
  try {
    await admin.connect();
    const { clusterId } = await admin.describeCluster();
    const found: Found[] = [];
    for (const [topic, partitions] of Object.entries(assignment)) {
      found.push(...(await findInTopic(parts, admin, { clusterId, topic, partitions })));
    }
    return found;
  } finally {
    await endsWithin(admin.disconnect(), closeTimeoutMs);
  }
};

type Asked = { clusterId: string; topic: string; partitions: readonly number[] };

const findInTopic = async (parts: Parts, admin: Admin, asked: Asked): Promise<Found[]> => {
  const { clusterId, topic, partitions } = asked;
  const { group, positions } = parts;
  // Read before the log's ends, which only grow: so no position lies behind one by being newer.
  const kept = await positions.read(topic);
  const logs = new Map(
    (await admin.fetchTopicOffsets(topic)).map(({ partition, high, low }) => [
      partition,
      { first: BigInt(low), end: BigInt(high) },
    ]),
  );
  const isNew = partitions.some((partition) => !kept.has(partition));
  const [committed] = isNew ? await admin.fetchOffsets({ groupId: group, topics: [topic] }) : [];
  return Promise.all(
    partitions.map(async (partition) => {
      const place = { topic, partition };
      const log = logs.get(partition);
      if (log === undefined) throw new Error(`the broker does not know ${placeName(place)}`);
      const from = kept.get(partition);
      const offset = committed?.partitions.find((one) => one.partition === partition)?.offset;
      const reason =
        from && whyReset(from, { ...log, clusterId }, parts.lost.has(placeName(place)));
      const { first } = log;
      if (from !== undefined && reason === undefined) return { place, position: from, first };
      const nextOffset = from === undefined ? clamp(BigInt(offset ?? -1), log) : first;
      const resetCount = from === undefined ? 0 : from.resetCount + 1;
      const position = { clusterId, resetCount, nextOffset };
      if (!(await positions.replace(place, { from, to: position }))) {
        throw new Error("the position has just moved");
      }
      if (reason !== undefined) tellReset(parts, place, { reason, from, nextOffset });
      return { place, position, first };
    }),
  );
};

type Log = { first: bigint; end: bigint };

const whyReset = (
  position: Position,
  { clusterId, first, end }: Log & { clusterId: string },
  isLost: boolean,
): ResetReason | undefined => {
  if (position.clusterId !== clusterId) return "other_cluster";
  if (isLost || position.nextOffset > end) return "log_lost";
  return position.nextOffset < first ? "deleted_unread" : undefined;
};

/** Where the group stands by Kafka's own account; at the beginning if that cannot be. */
const clamp = (committed: bigint, { first, end }: Log): bigint =>
  committed < first || committed > end ? first : committed;

const tellReset = (
  { connection, group, resets }: Parts,
  { topic, partition }: Place,
  reset: { reason: ResetReason; from: Position | undefined; nextOffset: bigint },
): void => {
  const { reason, from, nextOffset } = reset;
  resets.inc({ group, reason });
  connection.log.error(
    {
      group,
      topic,
      partition,
      reason,
      position: String(from?.nextOffset),
      begins_at: String(nextOffset),
    },
    "the log does not have what comes next; the consumer begins with what it has",
  );
};
