import { describe, expect, test } from "@jest/globals";
import { createLocalBus } from "./local-bus.ts";
import { testBusContract } from "./bus.contract.ts";
import { createUniqueName, createTestRecord } from "./testing/rig.ts";

// The contract's "other processes" share this bus, because a local bus serves only one process.
let sharedBus = createLocalBus();
let isSharedBusOpen = false;

testBusContract("local", {
  createBus: ({ groups }) => {
    if (groups !== undefined) return createLocalBus({ groups });
    if (!isSharedBusOpen) sharedBus = createLocalBus();
    isSharedBusOpen = true;
    const bus = sharedBus;
    return {
      ...bus,
      close: async () => {
        isSharedBusOpen = false;
        await bus.close();
      },
    };
  },
  createTopic: async () => createUniqueName("topic"),
});

describe("local bus", () => {
  test("resolves publish only after every group has handled the records", async () => {
    const bus = createLocalBus();
    const { promise: latch, resolve: releaseLatch } = Promise.withResolvers<void>();
    const handledGroups: string[] = [];
    for (const group of ["quick", "slow"]) {
      await bus.subscribe({
        group,
        topics: ["things"],
        handle: async (records) => {
          if (group === "slow") await latch;
          handledGroups.push(group);
          return { handledCount: records.length };
        },
      });
    }
    let isPublished = false;
    const publishing = bus
      .publish([createTestRecord("things", { key: "a", step: 1 })])
      .then(() => (isPublished = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect({ handledBy: handledGroups, isPublished }).toEqual({
      handledBy: ["quick"],
      isPublished: false,
    });
    releaseLatch();
    await publishing;
    expect(handledGroups).toEqual(["quick", "slow"]);
  });

  test("publishes a topic without subscribers immediately", async () => {
    await createLocalBus().publish([createTestRecord("unheard", { key: "a", step: 1 })]);
  });

  test("rejects publish while an expected group is absent or has left", async () => {
    const bus = createLocalBus({ groups: ["late"] });
    const record = createTestRecord("things", { key: "a", step: 1 });
    await expect(bus.publish([record])).rejects.toThrow("late has not joined");
    const subscription = await bus.subscribe({
      group: "late",
      topics: ["things"],
      handle: async (records) => ({ handledCount: records.length }),
    });
    await bus.publish([record]);
    await subscription.stop();
    await expect(bus.publish([record])).rejects.toThrow("late has left");
  });

  test("abandons a handler without progress on stop, and rejects the pending publish", async () => {
    const bus = createLocalBus();
    const subscription = await bus.subscribe({
      group: "stuck",
      topics: ["things"],
      handle: async () => ({ handledCount: 0 }),
    });
    const publishing = bus.publish([createTestRecord("things", { key: "a", step: 1 })]);
    publishing.catch(() => {});
    await subscription.stop();
    await expect(publishing).rejects.toThrow("stuck has left");
  });
});
