import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createMetrics } from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { getDeadLetterTopic } from "./dead-letters.ts";
import { grantKafkaAccess } from "./kafka-acls.ts";
import { createKafkaBus } from "./kafka-bus.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { eventually, createUniqueName, silentLog } from "./testing/rig.ts";
import { getTestBrokers, getTestSaslConnection } from "./testing/test-brokers.ts";

const user = "links-api";
const clientOptions = { clientId: "acl-test", log: silentLog };
const userConnection = getTestSaslConnection(user);
const otherUserConnection = getTestSaslConnection("webhook-dispatcher");
const describeWithUsers =
  userConnection === undefined || otherUserConnection === undefined ? describe.skip : describe;

const openedBuses: Bus[] = [];
afterEach(async () => {
  await Promise.all(openedBuses.splice(0).map((bus) => bus.close()));
});

describeWithUsers("a service's user on a cluster with ACLs", () => {
  const [ownTopic, consumedTopic, foreignTopic] = [
    createUniqueName("own"),
    createUniqueName("heard"),
    createUniqueName("foreign"),
  ];
  const group = createUniqueName("group");

  const createBusAs = (connection: typeof userConnection) => {
    if (connection === undefined) throw new Error("the Kafka users are missing");
    const bus = createKafkaBus({ ...clientOptions, ...connection, metrics: createMetrics("test") });
    openedBuses.push(bus);
    return bus;
  };
  const publish = (connection: typeof userConnection, topic: string) =>
    createBusAs(connection).publish([{ topic, key: "key", value: "{}", headers: {} }]);

  beforeAll(async () => {
    const brokers = getTestBrokers();
    const topicSettings = { partitions: 3, config: {} };
    const topics = {
      [ownTopic]: topicSettings,
      [consumedTopic]: topicSettings,
      [foreignTopic]: topicSettings,
    };
    await ensureTopics({ ...clientOptions, brokers, replicationFactor: 1, topics });
    const usage = { group, produces: [ownTopic], consumes: [consumedTopic] };
    const grantAccess = () =>
      grantKafkaAccess({ ...clientOptions, brokers, principal: `User:${user}`, usage });
    await grantAccess();
    // Every deployment grants the access again.
    await grantAccess();
  });

  test("writes its own topics and the dead-letter topics of those it consumes", async () => {
    // It takes a moment until new ACLs reach all brokers.
    const isAccepted = (topic: string) =>
      publish(userConnection, topic).then(
        () => true,
        () => false,
      );
    await waitUntil("its own topic accepts records", () => isAccepted(ownTopic));
    await waitUntil("the dead-letter topic accepts records", () =>
      isAccepted(getDeadLetterTopic(consumedTopic)),
    );
  });

  test.each([
    ["a topic it consumes", consumedTopic],
    ["a topic of another service", foreignTopic],
    ["the dead-letter topic of another service's topic", getDeadLetterTopic(foreignTopic)],
  ])("does not write %s", async (_description, topic) => {
    await expect(publish(userConnection, topic)).rejects.toThrow(/[Nn]ot authorized/);
  });

  test("consumes its topics as its group", async () => {
    const keys: (string | undefined)[] = [];
    await createBusAs(userConnection).subscribe({
      group,
      topics: [consumedTopic],
      handle: async (records) => {
        keys.push(...records.map(({ key }) => key));
        return { handledCount: records.length };
      },
    });
    await createOperatorBus().publish([
      { topic: consumedTopic, key: "told", value: "{}", headers: {} },
    ]);
    await eventually(
      () => keys,
      ([key]) => key === "told",
    );
  });

  test("cannot read other groups or topics that it does not consume", async () => {
    if (userConnection === undefined) return;
    const admin = createKafkaClient({ ...clientOptions, ...userConnection }).admin();
    await admin.connect();
    try {
      // kafkajs first asks for the group's coordinator, and that request is denied.
      await expect(admin.fetchOffsets({ groupId: createUniqueName("others") })).rejects.toThrow(
        /authoriz|group coordinator/,
      );
      await expect(admin.fetchTopicOffsets(foreignTopic)).rejects.toThrow(/authoriz|does not host/);
    } finally {
      await admin.disconnect();
    }
  });

  test("does not share the access granted to another user", async () => {
    await expect(publish(otherUserConnection, ownTopic)).rejects.toThrow(/authoriz/);
  });

  const createOperatorBus = () => {
    const bus = createKafkaBus({
      ...clientOptions,
      brokers: getTestBrokers(),
      metrics: createMetrics("test"),
    });
    openedBuses.push(bus);
    return bus;
  };
});
