import { describe, expect, test } from "@jest/globals";
import { createLocalBus } from "./local-bus.ts";
import { testBusContract } from "./bus.contract.ts";
import { fresh, testRecord } from "./testing/rig.ts";

// The contract's "other processes" are the same bus: within one process there is only one.
let shared = createLocalBus();
let sharedIsOpen = false;

testBusContract("local", {
  open: ({ groups }) => {
    if (groups !== undefined) return createLocalBus({ groups });
    if (!sharedIsOpen) shared = createLocalBus();
    sharedIsOpen = true;
    const bus = shared;
    return {
      ...bus,
      close: async () => {
        sharedIsOpen = false;
        await bus.close();
      },
    };
  },
  makeTopic: async () => fresh("topic"),
});

describe("local bus", () => {
  test("publishing ends only after every group has handled the records", async () => {
    const bus = createLocalBus();
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    const handledBy: string[] = [];
    for (const group of ["quick", "slow"]) {
      await bus.subscribe({
        group,
        topics: ["things"],
        handle: async (records) => {
          if (group === "slow") await gate;
          handledBy.push(group);
          return { handledCount: records.length };
        },
      });
    }
    let isPublished = false;
    const published = bus
      .publish([testRecord("things", { key: "a", step: 1 })])
      .then(() => (isPublished = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect({ handledBy, isPublished }).toEqual({ handledBy: ["quick"], isPublished: false });
    openGate();
    await published;
    expect(handledBy).toEqual(["quick", "slow"]);
  });

  test("a topic that nobody hears is published at once", async () => {
    await createLocalBus().publish([testRecord("unheard", { key: "a", step: 1 })]);
  });

  test("publishing is refused while a promised group is absent or one has left", async () => {
    const bus = createLocalBus({ groups: ["late"] });
    const record = testRecord("things", { key: "a", step: 1 });
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

  test("stopping lets a handler go that cannot get on, and the sender is told", async () => {
    const bus = createLocalBus();
    const subscription = await bus.subscribe({
      group: "stuck",
      topics: ["things"],
      handle: async () => ({ handledCount: 0 }),
    });
    const published = bus.publish([testRecord("things", { key: "a", step: 1 })]);
    published.catch(() => {});
    await subscription.stop();
    await expect(published).rejects.toThrow("stuck has left");
  });
});
