import type { Bus } from "./bus.ts";

/**
 * A bus whose topics and groups have a prefix on the broker, but not in the services, so that
 * several sets can share one cluster.
 */
export const withTopicPrefix = (bus: Bus, prefix: string): Bus => ({
  ...bus,
  publish: (records) =>
    bus.publish(records.map((record) => ({ ...record, topic: prefix + record.topic }))),
  subscribe: ({ group, topics, handle }) =>
    bus.subscribe({
      group: prefix + group,
      topics: topics.map((topic) => prefix + topic),
      handle: (records, signal) =>
        handle(
          records.map((record) => ({ ...record, topic: record.topic.slice(prefix.length) })),
          signal,
        ),
    }),
});

/** The settings of topics, under their prefixed names on the cluster. */
export const prefixTopics = <Settings>(
  topics: Readonly<Record<string, Settings>>,
  prefix: string,
): Record<string, Settings> =>
  Object.fromEntries(Object.entries(topics).map(([topic, settings]) => [prefix + topic, settings]));
