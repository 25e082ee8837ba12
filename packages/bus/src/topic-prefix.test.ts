import { describe, expect, test } from "@jest/globals";
import { createLocalBus } from "./local-bus.ts";
import { fresh, testRecord } from "./testing/rig.ts";
import { prefixTopics, withTopicPrefix } from "./topic-prefix.ts";

describe("a topic prefix", () => {
  test("keeps sets apart that share a broker, and is seen by no service", async () => {
    const broker = createLocalBus();
    const heard: string[] = [];
    for (const prefix of ["one.", "two."]) {
      await withTopicPrefix(broker, prefix).subscribe({
        group: "readers",
        topics: ["things"],
        handle: async (records) => {
          heard.push(...records.map(({ topic, key }) => `${prefix}${topic}/${key}`));
          return { handledCount: records.length };
        },
      });
    }
    const record = testRecord("things", { key: fresh("a"), step: 1 });
    await withTopicPrefix(broker, "two.").publish([record]);
    expect(heard).toEqual([`two.things/${record.key}`]);
  });

  test("stands before the names that are made at deployment", () => {
    expect(prefixTopics({ things: 1 }, "one.")).toEqual({ "one.things": 1 });
  });
});
