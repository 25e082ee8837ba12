import type { Bus, PositionStore } from "./bus.ts";
import type { KafkaUse } from "./kafka-acls.ts";

/**
 * A bus whose topics and groups have a prefix on the broker, but not in the services, so that
 * several sets can share one cluster.
 */
export const withTopicPrefix = (bus: Bus, prefix: string): Bus => ({
  ...bus,
  publish: (records) =>
    bus.publish(records.map((record) => ({ ...record, topic: prefix + record.topic }))),
  subscribe: ({ group, topics, handle, positions, ...rest }) =>
    bus.subscribe({
      ...rest,
      group: prefix + group,
      topics: topics.map((topic) => prefix + topic),
      handle: (records, signal) =>
        handle(
          records.map((record) => ({ ...record, topic: record.topic.slice(prefix.length) })),
          signal,
        ),
      ...(positions === undefined ? {} : { positions: withoutPrefix(positions, prefix) }),
    }),
});

const withoutPrefix = (positions: PositionStore, prefix: string): PositionStore => ({
  read: (topic) => positions.read(topic.slice(prefix.length)),
  replace: ({ topic, partition }, change) =>
    positions.replace({ topic: topic.slice(prefix.length), partition }, change),
  begin: ({ topic, partition }, position) =>
    positions.begin({ topic: topic.slice(prefix.length), partition }, position),
});

/** The settings of topics, under their prefixed names on the cluster. */
export const prefixTopics = <Settings>(
  topics: Readonly<Record<string, Settings>>,
  prefix: string,
): Record<string, Settings> =>
  Object.fromEntries(Object.entries(topics).map(([topic, settings]) => [prefix + topic, settings]));

/** What a service does on the cluster, under the prefixed names. */
export const prefixUse = ({ group, writes, hears }: KafkaUse, prefix: string): KafkaUse => ({
  group: prefix + group,
  writes: writes.map((topic) => prefix + topic),
  hears: hears.map((topic) => prefix + topic),
});
