import type { Log } from "@payment-links/runtime";
import type { BatchHandler, Bus, OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { endsWithin } from "./ends-within.ts";
import { handOver } from "./hand-over.ts";

type Member = { handle: BatchHandler; stopping: AbortController };

/**
 * A group handles one batch at a time, in the order of publishing, so every key keeps its order.
 */
type Group = {
  topics: ReadonlySet<string>;
  members: Member[];
  /** Whose turn it is, and when the last batch will have been handled. */
  turn: number;
  tail: Promise<void>;
};

const stopTimeoutMs = 20_000;
/** There is no other process. This only covers a forgotten wake. */
const pollMs = 250;

/**
 * The bus of one process. It keeps nothing. `publish` ends when every group that hears the topic
 * has handled the records. It rejects while such a group has no member, so that the records stay in
 * the outbox. `groups` names those that must have joined before anything is published. Without
 * that, a relay that starts before a consumer would publish to nobody and delete the events.
 */
export const createLocalBus = (options: { groups?: readonly string[]; log?: Log } = {}): Bus => {
  const { log } = options;
  const groups = new Map<string, Group>();
  const offsets = new Map<string, bigint>();

  const receive = ({ topic, key, headers, value }: OutgoingRecord): ReceivedRecord => {
    const offset = offsets.get(topic) ?? 0n;
    offsets.set(topic, offset + 1n);
    return {
      topic,
      key,
      headers,
      partition: 0,
      offset: String(offset),
      value: Buffer.from(value),
    };
  };

  const stop = async (group: Group, member: Member): Promise<void> => {
    group.members = group.members.filter((other) => other !== member);
    member.stopping.abort();
    await endsWithin(group.tail, stopTimeoutMs);
  };

  return {
    sendTimeoutMs: 0,
    pollMs,
    publish: async (records) => {
      const absent = options.groups?.find((name) => !groups.has(name));
      if (absent !== undefined) throw new Error(`the group ${absent} has not joined the bus yet`);
      const received = records.map(receive);
      const deliveries = [...groups].map(([name, group]) =>
        deliver({ name, group, received, log }),
      );
      const failed = (await Promise.allSettled(deliveries)).find(isRejected);
      if (failed !== undefined) throw failed.reason;
    },
    subscribe: async ({ group: name, topics, handle }) => {
      const group = groups.get(name) ?? {
        topics: new Set(topics),
        members: [],
        turn: 0,
        tail: Promise.resolve(),
      };
      if (!isSame(group.topics, topics)) {
        throw new Error(`the members of group ${name} hear different topics`);
      }
      groups.set(name, group);
      const member: Member = { handle, stopping: new AbortController() };
      group.members.push(member);
      return { stop: () => stop(group, member) };
    },
    close: async () => {
      const all = [...groups.values()];
      await Promise.all(all.flatMap((group) => group.members.map((member) => stop(group, member))));
    },
  };
};

const isSame = (known: ReadonlySet<string>, topics: readonly string[]): boolean =>
  known.size === new Set(topics).size && topics.every((topic) => known.has(topic));

const isRejected = (result: PromiseSettledResult<void>) => result.status === "rejected";

type Delivery = {
  name: string;
  group: Group;
  received: readonly ReceivedRecord[];
  log: Log | undefined;
};

const deliver = (delivery: Delivery): Promise<void> => {
  const { group, received } = delivery;
  const heard = received.filter(({ topic }) => group.topics.has(topic));
  if (heard.length === 0) return Promise.resolve();
  const delivered = deliverAfter(group.tail, delivery, heard);
  // The next batch follows even if this one was not handled: its sender sends it again.
  group.tail = delivered.catch(() => {});
  return delivered;
};

const deliverAfter = async (
  earlier: Promise<void>,
  delivery: Delivery,
  heard: readonly ReceivedRecord[],
): Promise<void> => {
  await earlier;
  for (const records of Object.values(Object.groupBy(heard, ({ topic }) => topic))) {
    if (records !== undefined) await deliverTopic(delivery, records);
  }
};

/** Members take turns. What one leaves when it stops, the next one handles. */
const deliverTopic = async (
  { name, group, log }: Delivery,
  records: readonly ReceivedRecord[],
): Promise<void> => {
  for (let doneCount = 0; doneCount < records.length;) {
    const member = group.members[group.turn % group.members.length];
    if (member === undefined) throw new Error(`the group ${name} has left the bus`);
    group.turn += 1;
    const rest = records.slice(doneCount);
    const { handle, stopping } = member;
    const { handledCount } = await handOver({
      records: rest,
      handle,
      signal: stopping.signal,
      log,
    });
    doneCount += handledCount;
  }
};
