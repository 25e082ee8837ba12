import type { Log } from "@payment-links/runtime";
import type { BatchHandler, Bus, OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { settlesWithin } from "./settles-within.ts";
import { deliverRecords } from "./deliver-records.ts";

type GroupMember = { handle: BatchHandler; stopController: AbortController };

/**
 * A consumer group. It handles one batch at a time in publishing order, so the records of each key
 * stay in order.
 */
type Group = {
  topics: ReadonlySet<string>;
  members: GroupMember[];
  /**
   * The index of the member that receives the next batch. `lastDelivery` settles when the last
   * batch is done.
   */
  nextMemberIndex: number;
  lastDelivery: Promise<void>;
};

const stopTimeoutMs = 20_000;
/** A fallback for a missed `wake` call. There is no other process to poll for. */
const pollMs = 250;

/**
 * Creates the bus of a single process. It does not store records: `publish` resolves once every
 * group subscribed to the topic has handled them. While such a group has no member, `publish`
 * rejects, so the records stay in the outbox.
 *
 * `groups` names the groups that must join before anything is published. Without it, a relay that
 * starts before a consumer would publish to no group and delete the events.
 */
export const createLocalBus = (options: { groups?: readonly string[]; log?: Log } = {}): Bus => {
  const { log } = options;
  const groups = new Map<string, Group>();
  const offsets = new Map<string, bigint>();

  const toReceivedRecord = ({ topic, key, headers, value }: OutgoingRecord): ReceivedRecord => {
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

  const stop = async (group: Group, member: GroupMember): Promise<void> => {
    group.members = group.members.filter((otherMember) => otherMember !== member);
    member.stopController.abort();
    await settlesWithin(group.lastDelivery, stopTimeoutMs);
  };

  return {
    sendTimeoutMs: 0,
    pollMs,
    publish: async (records) => {
      const missingGroup = options.groups?.find((groupName) => !groups.has(groupName));
      if (missingGroup !== undefined)
        throw new Error(`the group ${missingGroup} has not joined the bus yet`);
      const receivedRecords = records.map(toReceivedRecord);
      const deliveries = [...groups].map(([groupName, group]) =>
        deliver({ groupName, group, receivedRecords, log }),
      );
      const rejection = (await Promise.allSettled(deliveries)).find(isRejected);
      if (rejection !== undefined) throw rejection.reason;
    },
    subscribe: async ({ group: groupName, topics, handle }) => {
      const group = groups.get(groupName) ?? {
        topics: new Set(topics),
        members: [],
        nextMemberIndex: 0,
        lastDelivery: Promise.resolve(),
      };
      if (!hasSameTopics(group.topics, topics)) {
        throw new Error(`the members of group ${groupName} subscribe to different topics`);
      }
      groups.set(groupName, group);
      const member: GroupMember = { handle, stopController: new AbortController() };
      group.members.push(member);
      return { stop: () => stop(group, member) };
    },
    close: async () => {
      const allGroups = [...groups.values()];
      await Promise.all(
        allGroups.flatMap((group) => group.members.map((member) => stop(group, member))),
      );
    },
  };
};

const hasSameTopics = (knownTopics: ReadonlySet<string>, topics: readonly string[]): boolean =>
  knownTopics.size === new Set(topics).size && topics.every((topic) => knownTopics.has(topic));

const isRejected = (result: PromiseSettledResult<void>) => result.status === "rejected";

type GroupDelivery = {
  groupName: string;
  group: Group;
  receivedRecords: readonly ReceivedRecord[];
  log: Log | undefined;
};

const deliver = (delivery: GroupDelivery): Promise<void> => {
  const { group, receivedRecords } = delivery;
  const subscribedRecords = receivedRecords.filter(({ topic }) => group.topics.has(topic));
  if (subscribedRecords.length === 0) return Promise.resolve();
  const deliveryPromise = deliverAfter(group.lastDelivery, delivery, subscribedRecords);
  // The next batch follows even if this one failed, because the sender sends the failed one again.
  group.lastDelivery = deliveryPromise.catch(() => {});
  return deliveryPromise;
};

const deliverAfter = async (
  previousDelivery: Promise<void>,
  delivery: GroupDelivery,
  subscribedRecords: readonly ReceivedRecord[],
): Promise<void> => {
  await previousDelivery;
  for (const records of Object.values(Object.groupBy(subscribedRecords, ({ topic }) => topic))) {
    if (records !== undefined) await deliverTopic(delivery, records);
  }
};

/**
 * Delivers records of one topic to the members in turn. If a member stops, the next one handles the
 * rest.
 */
const deliverTopic = async (
  { groupName, group, log }: GroupDelivery,
  records: readonly ReceivedRecord[],
): Promise<void> => {
  for (let handledTotal = 0; handledTotal < records.length;) {
    const member = group.members[group.nextMemberIndex % group.members.length];
    if (member === undefined) throw new Error(`the group ${groupName} has left the bus`);
    group.nextMemberIndex += 1;
    const remainingRecords = records.slice(handledTotal);
    const { handle, stopController } = member;
    const { handledCount } = await deliverRecords({
      records: remainingRecords,
      handle,
      signal: stopController.signal,
      log,
    });
    handledTotal += handledCount;
  }
};
