import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Bus, busMigrations, on } from "@payment-links/bus";
import { topics } from "@payment-links/contracts";
import type { Service } from "@payment-links/http";
import { createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type ServiceParts, createService } from "./create-service.ts";
import { createTestContext } from "./testing/create-test-context.ts";

const testEvent = { topic: topics.accounts, type: "tiny.told", data: z.object({}) } as const;
const emptyRoutes = { publicRoutes: [], internalRoutes: [] };

let testContext: Awaited<ReturnType<typeof createTestContext>>;
beforeAll(async () => {
  testContext = await createTestContext({
    name: "tiny",
    migration: { schema: "tiny", folders: [busMigrations] },
  });
});
afterAll(() => testContext.close());

/** Creates a service on a bus that records when consumers subscribe and stop. */
const createTestService = (parts: (events: string[]) => Partial<ServiceParts>) => {
  const events: string[] = [];
  const { context } = testContext;
  const bus: Bus = {
    ...context.bus,
    subscribe: async (options) => {
      events.push("subscribed");
      const subscription = await context.bus.subscribe(options);
      return {
        stop: async () => {
          await subscription.stop();
          events.push("unsubscribed");
        },
      };
    },
  };
  const serviceParts = parts(events);
  const metrics = createMetrics("tiny");
  const service = createService({ ...context, bus, metrics }, "tiny", () => ({
    ...emptyRoutes,
    ...serviceParts,
  }));
  return { events, service };
};

const consumerOptions = { handlers: [on(testEvent, async () => {})] };

const HolderRow = z.object({ holder: z.string().nullable() });

const getInternalPaths = ({ internalRoutes }: Service) => internalRoutes.map(({ path }) => path);

describe("a service", () => {
  test("starts its own part first, and stops it before the consumer has left its group", async () => {
    const { events, service } = createTestService((events) => ({
      consumerOptions,
      backgroundJobs: [
        { name: "job", waitMs: 1_000, run: async () => void events.push("job runs") },
      ],
      start: () => void events.push("own starts"),
      stop: async () => void events.push("own stops"),
      afterStop: async () => void events.push("afterStop"),
    }));
    await service.start();
    await waitUntil("the job has run", () => events.includes("job runs"));
    await service.stop();
    expect(events.filter((eventName) => eventName !== "job runs")).toEqual([
      "own starts",
      "subscribed",
      "own stops",
      "unsubscribed",
      "afterStop",
    ]);
  });

  test("leaves its consumer group once while it drains, before it stops", async () => {
    const { events, service } = createTestService(() => ({ consumerOptions }));
    await service.start();
    service.drain?.();
    await waitUntil("the consumer has left its group", () => events.includes("unsubscribed"));
    await service.stop();
    expect(events).toEqual(["subscribed", "unsubscribed"]);
  });

  test("starts nothing when its own part fails to start, and can still be stopped", async () => {
    const { events, service } = createTestService((events) => ({
      consumerOptions,
      backgroundJobs: [
        { name: "job", waitMs: 1_000, run: async () => void events.push("job runs") },
      ],
      start: () => Promise.reject(new Error("a key is missing")),
    }));
    await expect(service.start()).rejects.toThrow("a key is missing");
    await service.stop();
    expect(events).toEqual([]);
  });

  test("without event handlers neither subscribes nor has dead-letter routes", async () => {
    const { events, service } = createTestService(() => ({}));
    await service.start();
    await service.stop();
    expect(events).toEqual([]);
    expect(getInternalPaths(service)).toEqual([]);
  });

  test("with event handlers has routes to list, replay and discard its dead letters", () => {
    const { service } = createTestService(() => ({ consumerOptions }));
    const path = "/internal/dead-letters/tiny";
    expect(getInternalPaths(service)).toEqual([path, `${path}/replay`, `${path}/discard`]);
  });

  test("reports how far its clock is ahead of or behind Postgres' clock", async () => {
    const { clock, context } = testContext;
    const metrics = createMetrics("tiny");
    const service = createService({ ...context, metrics }, "tiny", () => emptyRoutes);
    const isClockAheadBy = async (seconds: number) => {
      const metric = await metrics.getSingleMetric("payment_links_clock_ahead_seconds")?.get();
      return Math.abs((metric?.values[0]?.value ?? 0) - seconds) < 20;
    };
    clock.advance(Date.now() + 3_600_000 - clock.now().getTime());
    await service.start();
    await waitUntil("the clock is an hour ahead", () => isClockAheadBy(3_600));
    clock.setBack(2 * 3_600_000);
    clock.advance(60_000);
    await waitUntil("the clock is an hour behind", () => isClockAheadBy(-3_540));
    await service.stop();
  });

  test.each(["stop", "afterStop"] as const)(
    "releases its relay's leadership even if its own %s fails",
    async (hookName) => {
      const { context } = testContext;
      const readHolder = async () => {
        const { holder } = await context.pool.one(
          sql.type(HolderRow)`SELECT holder FROM relay_lead`,
        );
        return holder;
      };
      const { service } = createTestService(() => ({
        [hookName]: () => Promise.reject(new Error("the hook failed")),
      }));
      await service.start();
      await waitUntil("the relay is the leader", async () => (await readHolder()) !== null);
      await expect(service.stop()).rejects.toThrow("the hook failed");
      expect(await readHolder()).toBeNull();
    },
  );

  test("can be stopped without having been started, and still runs afterStop", async () => {
    const { events, service } = createTestService((events) => ({
      afterStop: async () => void events.push("afterStop"),
    }));
    await service.stop();
    expect(events).toEqual(["afterStop"]);
  });
});
