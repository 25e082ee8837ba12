import { describe, expect, test } from "@jest/globals";
import { createLocalBus } from "./local-bus.ts";
import { createUniqueName, createTestRecord } from "./testing/rig.ts";
import { prefixTopics, withTopicPrefix } from "./topic-prefix.ts";

describe("a topic prefix", () => {
  test("separates deployments that share a broker, and is invisible to services", async () => {
    const sharedBus = createLocalBus();
    const receivedKeys: string[] = [];
    for (const prefix of ["one.", "two."]) {
      await withTopicPrefix(sharedBus, prefix).subscribe({
        group: "readers",
        topics: ["things"],
        handle: async (records) => {
          receivedKeys.push(...records.map(({ topic, key }) => `${prefix}${topic}/${key}`));
          return { handledCount: records.length };
        },
      });
    }
    const record = createTestRecord("things", { key: createUniqueName("a"), step: 1 });
    await withTopicPrefix(sharedBus, "two.").publish([record]);
    expect(receivedKeys).toEqual([`two.things/${record.key}`]);
  });

  test("is added to the topic names created at deployment", () => {
    expect(prefixTopics({ things: 1 }, "one.")).toEqual({ "one.things": 1 });
  });
});
