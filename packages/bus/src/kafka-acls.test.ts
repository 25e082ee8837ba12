import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openMetrics } from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { deadLetterTopic } from "./dead-letters.ts";
import { grantKafkaUse } from "./kafka-acls.ts";
import { createKafkaBus } from "./kafka-bus.ts";
import { openKafka } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { eventually, fresh, quietLog } from "./testing/rig.ts";
import { testBrokers, testSaslConnection } from "./testing/test-brokers.ts";

const user = "links-api";
const told = { clientId: "acl-test", log: quietLog };
const asUser = testSaslConnection(user);
const asStranger = testSaslConnection("webhook-dispatcher");
const withUsers = asUser === undefined || asStranger === undefined ? describe.skip : describe;

const opened: Bus[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

withUsers("a service's user, where a cluster asks who calls", () => {
  const [own, heard, foreign] = [fresh("own"), fresh("heard"), fresh("foreign")];
  const group = fresh("group");

  const openAs = (connection: typeof asUser) => {
    if (connection === undefined) throw new Error("a describe that is not skipped has users");
    const bus = createKafkaBus({ ...told, ...connection, metrics: openMetrics("test") });
    opened.push(bus);
    return bus;
  };
  const publish = (connection: typeof asUser, topic: string) =>
    openAs(connection).publish([{ topic, key: "key", value: "{}", headers: {} }]);

  beforeAll(async () => {
    const brokers = testBrokers();
    const settings = { partitions: 3, config: {} };
    const topics = { [own]: settings, [heard]: settings, [foreign]: settings };
    await ensureTopics({ ...told, brokers, replicationFactor: 1, topics });
    const use = { group, writes: [own], hears: [heard] };
    const grant = () => grantKafkaUse({ ...told, brokers, principal: `User:${user}`, use });
    await grant();
    // As at each deployment.
    await grant();
  });

  test("writes its own topics and the dead letters of those that it hears", async () => {
    // Brokers hear of what was granted a moment after it was.
    const isTaken = (topic: string) =>
      publish(asUser, topic).then(
        () => true,
        () => false,
      );
    await waitUntil("its own is taken", () => isTaken(own));
    await waitUntil("a dead letter is taken", () => isTaken(deadLetterTopic(heard)));
  });

  test.each([
    ["what it hears", heard],
    ["what others do", foreign],
    ["the dead letters of others", deadLetterTopic(foreign)],
  ])("does not write %s", async (_what, topic) => {
    await expect(publish(asUser, topic)).rejects.toThrow(/[Nn]ot authorized/);
  });

  test("hears its topics as its group", async () => {
    const keys: (string | undefined)[] = [];
    await openAs(asUser).subscribe({
      group,
      topics: [heard],
      handle: async (records) => {
        keys.push(...records.map(({ key }) => key));
        return { handledCount: records.length };
      },
    });
    await openKafkaAsOperator().publish([{ topic: heard, key: "told", value: "{}", headers: {} }]);
    await eventually(
      () => keys,
      ([key]) => key === "told",
    );
  });

  test("joins no group of others, and reads no topic that it does not hear", async () => {
    if (asUser === undefined) return;
    const admin = openKafka({ ...told, ...asUser }).admin();
    await admin.connect();
    try {
      // kafkajs asks who coordinates the group first, and is refused that.
      await expect(admin.fetchOffsets({ groupId: fresh("others") })).rejects.toThrow(
        /authoriz|group coordinator/,
      );
      await expect(admin.fetchTopicOffsets(foreign)).rejects.toThrow(/authoriz|does not host/);
    } finally {
      await admin.disconnect();
    }
  });

  test("has nothing of what was granted to another", async () => {
    await expect(publish(asStranger, own)).rejects.toThrow(/authoriz/);
  });

  const openKafkaAsOperator = () => {
    const bus = createKafkaBus({
      ...told,
      brokers: testBrokers(),
      metrics: openMetrics("test"),
    });
    opened.push(bus);
    return bus;
  };
});
