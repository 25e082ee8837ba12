import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Bus, busMigrations, on } from "@payment-links/bus";
import { topics } from "@payment-links/contracts";
import type { Service } from "@payment-links/http";
import { openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type ServiceParts, createService } from "./create-service.ts";
import { openTestGround } from "./testing/open-test-ground.ts";

const told = { topic: topics.accounts, type: "tiny.told", data: z.object({}) } as const;
const routes = { publicRoutes: [], internalRoutes: [] };

let testGround: Awaited<ReturnType<typeof openTestGround>>;
beforeAll(async () => {
  testGround = await openTestGround({
    name: "tiny",
    migration: { schema: "tiny", folders: [busMigrations] },
  });
});
afterAll(() => testGround.close());

/** A service on a bus that writes down who comes and goes, and takes its time to let a consumer go. */
const open = (parts: (happened: string[]) => Partial<ServiceParts>) => {
  const happened: string[] = [];
  const { ground } = testGround;
  const bus: Bus = {
    ...ground.bus,
    subscribe: async (subscription) => {
      happened.push("hears");
      const subscribed = await ground.bus.subscribe(subscription);
      return {
        stop: async () => {
          await subscribed.stop();
          happened.push("hears no more");
        },
      };
    },
  };
  const own = parts(happened);
  const metrics = openMetrics("tiny");
  const service = createService({ ...ground, bus, metrics }, "tiny", () => ({ ...routes, ...own }));
  return { happened, service };
};

const hearing = { reactions: [on(told, async () => {})] };

const Holder = z.object({ holder: z.string().nullable() });

const pathsOf = ({ internalRoutes }: Service) => internalRoutes.map(({ path }) => path);

describe("a service", () => {
  test("begins its own part first, and ends it while the consumer still leaves", async () => {
    const { happened, service } = open((happened) => ({
      hearing,
      jobs: [{ name: "job", waitMs: 1_000, run: async () => void happened.push("job runs") }],
      start: () => void happened.push("own starts"),
      stop: async () => void happened.push("own stops"),
      last: async () => void happened.push("last"),
    }));
    await service.start();
    await waitUntil("the job has run", () => happened.includes("job runs"));
    await service.stop();
    expect(happened.filter((what) => what !== "job runs")).toEqual([
      "own starts",
      "hears",
      "own stops",
      "hears no more",
      "last",
    ]);
  });

  test("told that its process will stop, leaves its group while it still serves, and once", async () => {
    const { happened, service } = open(() => ({ hearing }));
    await service.start();
    service.drain?.();
    await waitUntil("it has left", () => happened.includes("hears no more"));
    await service.stop();
    expect(happened).toEqual(["hears", "hears no more"]);
  });

  test("given an own part that cannot start, starts nothing, and can be stopped", async () => {
    const { happened, service } = open((happened) => ({
      hearing,
      jobs: [{ name: "job", waitMs: 1_000, run: async () => void happened.push("job runs") }],
      start: () => Promise.reject(new Error("a key is missing")),
    }));
    await expect(service.start()).rejects.toThrow("a key is missing");
    await service.stop();
    expect(happened).toEqual([]);
  });

  test("that hears nothing subscribes to nothing, and has no dead letters to show", async () => {
    const { happened, service } = open(() => ({}));
    await service.start();
    await service.stop();
    expect(happened).toEqual([]);
    expect(pathsOf(service)).toEqual([]);
  });

  test("that hears shows its dead letters, replays and discards them", () => {
    const { service } = open(() => ({ hearing }));
    const path = "/internal/dead-letters/tiny";
    expect(pathsOf(service)).toEqual([path, `${path}/replay`, `${path}/discard`]);
  });

  test("tells by how much its clock is ahead of Postgres', and behind", async () => {
    const { clock, ground } = testGround;
    const metrics = openMetrics("tiny");
    const service = createService({ ...ground, metrics }, "tiny", () => routes);
    const standsAt = async (seconds: number) => {
      const gauge = await metrics.getSingleMetric("payment_links_clock_ahead_seconds")?.get();
      return Math.abs((gauge?.values[0]?.value ?? 0) - seconds) < 20;
    };
    clock.advance(Date.now() + 3_600_000 - clock.now().getTime());
    await service.start();
    await waitUntil("it is an hour ahead", () => standsAt(3_600));
    clock.setBack(2 * 3_600_000);
    clock.advance(60_000);
    await waitUntil("it is an hour behind", () => standsAt(-3_540));
    await service.stop();
  });

  test.each(["stop", "last"] as const)(
    "whose own %s fails hands its relay's lead over all the same",
    async (part) => {
      const { ground } = testGround;
      const readHolder = async () => {
        const { holder } = await ground.pool.one(sql.type(Holder)`SELECT holder FROM relay_lead`);
        return holder;
      };
      const { service } = open(() => ({ [part]: () => Promise.reject(new Error("it was away")) }));
      await service.start();
      await waitUntil("it leads", async () => (await readHolder()) !== null);
      await expect(service.stop()).rejects.toThrow("it was away");
      expect(await readHolder()).toBeNull();
    },
  );

  test("that was never started can be stopped, and does what it does last", async () => {
    const { happened, service } = open((happened) => ({
      last: async () => void happened.push("last"),
    }));
    await service.stop();
    expect(happened).toEqual(["last"]);
  });
});
