import { describe, expect, test } from "@jest/globals";
import { createLocalBus } from "./local-bus.ts";
import { createUniqueName, createTestRecord } from "./testing/rig.ts";
import { prefixTopics, withTopicPrefix } from "./topic-prefix.ts";

describe("a topic prefix", () => {
  test("keeps sets apart that share a broker, and is seen by no service", async () => {
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

  test("stands before the names that are made at deployment", () => {
    expect(prefixTopics({ things: 1 }, "one.")).toEqual({ "one.things": 1 });
  });
});
