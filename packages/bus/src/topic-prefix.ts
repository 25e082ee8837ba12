import type { Bus, PositionStore } from "./bus.ts";
import type { KafkaUsage } from "./kafka-acls.ts";

/**
 * Returns a bus that adds a prefix to the names of topics and groups on the broker, so that several
 * deployments can share one cluster. Services see the names without the prefix.
 */
export const withTopicPrefix = (bus: Bus, prefix: string): Bus => ({
  ...bus,
  publish: (records) =>
    bus.publish(records.map((record) => ({ ...record, topic: prefix + record.topic }))),
  subscribe: ({ group, topics, handle, positionStore, ...otherOptions }) =>
    bus.subscribe({
      ...otherOptions,
      group: prefix + group,
      topics: topics.map((topic) => prefix + topic),
      handle: (records, signal) =>
        handle(
          records.map((record) => ({ ...record, topic: record.topic.slice(prefix.length) })),
          signal,
        ),
      ...(positionStore === undefined
        ? {}
        : { positionStore: stripTopicPrefix(positionStore, prefix) }),
    }),
});

const stripTopicPrefix = (positionStore: PositionStore, prefix: string): PositionStore => ({
  read: (topic) => positionStore.read(topic.slice(prefix.length)),
  replace: ({ topic, partition }, update) =>
    positionStore.replace({ topic: topic.slice(prefix.length), partition }, update),
  onSeek: ({ topic, partition }, position) =>
    positionStore.onSeek({ topic: topic.slice(prefix.length), partition }, position),
});

/** Adds the prefix to the topic names of cluster settings. */
export const prefixTopics = <Settings>(
  topics: Readonly<Record<string, Settings>>,
  prefix: string,
): Record<string, Settings> =>
  Object.fromEntries(Object.entries(topics).map(([topic, settings]) => [prefix + topic, settings]));

/** Adds the prefix to the names in a service's cluster usage. */
export const prefixUsage = (
  { group, produces, consumes }: KafkaUsage,
  prefix: string,
): KafkaUsage => ({
  group: prefix + group,
  produces: produces.map((topic) => prefix + topic),
  consumes: consumes.map((topic) => prefix + topic),
});
