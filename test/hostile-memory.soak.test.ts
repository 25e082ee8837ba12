import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { request } from "undici";
import { type Merchant, createMerchant } from "./rig/client.ts";
import {
  type LinkPublisher,
  createCompletedLinkRecord,
  connectLinkPublisher,
} from "./rig/completed-links.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { readResidentBytes, watchMemory } from "./rig/resident-memory.ts";
import { sealingKeyEntry } from "./rig/shop-env.ts";
import { listenOnFreePort } from "@payment-links/runtime/testing/free-port";
import { waitUntil } from "@payment-links/runtime/testing";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";

const accountCount = 40;
const endpointsPerAccount = 5;
const endpointCount = accountCount * endpointsPerAccount;
const waveCount = 3;
const warmUpCount = 4_000;
/**
 * Shorter than the default to save time, because three waves wait for this timeout. It is enforced
 * in the same way.
 */
const timeoutMs = 4_000;
const dripMs = 100;
const growthBytesMax = 64 * 1024 * 1024;

/** How long the connections to one kind of receiver lasted, and how many are currently open. */
type ConnectionStats = { openCount: number; durationsMs: number[] };

/**
 * Starts three kinds of receivers. They respond with 200 immediately, byte by byte, or with an
 * endless body.
 */
const startReceivers = async () => {
  const connectionStats = {
    drip: { openCount: 0, durationsMs: [] },
    endless: { openCount: 0, durationsMs: [] },
  };
  const trackConnection = (stats: ConnectionStats): (() => void) => {
    const openedAt = performance.now();
    stats.openCount += 1;
    return () => {
      stats.openCount -= 1;
      stats.durationsMs.push(performance.now() - openedAt);
    };
  };
  let healthyCount = 0;
  const healthyServer = createServer((req, res) => {
    healthyCount += 1;
    req.resume();
    res.end();
  });
  const drippingServer = createServer((req, res) => {
    const untrack = trackConnection(connectionStats.drip);
    req.resume();
    res.writeHead(200).flushHeaders();
    const timer = setInterval(() => res.write("."), dripMs);
    res.on("close", () => {
      clearInterval(timer);
      untrack();
    });
  });
  const chunk = Buffer.alloc(64 * 1024, "x");
  const endlessServer = createServer((req, res) => {
    const untrack = trackConnection(connectionStats.endless);
    req.resume();
    res.writeHead(200);
    const writeChunks = () => {
      while (!res.destroyed && res.write(chunk));
    };
    res.on("drain", writeChunks);
    res.on("close", untrack);
    writeChunks();
  });
  const servers = [healthyServer, drippingServer, endlessServer];
  const [healthyPort, dripPort, endlessPort] = await Promise.all(servers.map(listenOnFreePort));
  return {
    hostOverrides: [
      `healthy.test=http://127.0.0.1:${healthyPort}`,
      `drip.test=http://127.0.0.1:${dripPort}`,
      `endless.test=http://127.0.0.1:${endlessPort}`,
    ].join(),
    connectionStats,
    healthyCount: () => healthyCount,
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};

describe("100 endpoints that drip and 100 with endless bodies", () => {
  let receivers: Awaited<ReturnType<typeof startReceivers>>;
  let system: RealSystem;
  let publisher: LinkPublisher;
  const merchants: Merchant[] = [];

  beforeAll(async () => {
    receivers = await startReceivers();
    system = await startRealSystem({
      replicasPerService: 1,
      startedServices: ["auth-keys", "webhook-dispatcher"],
      env: {
        WEBHOOK_SECRET_KEYS: sealingKeyEntry,
        WEBHOOK_HOST_OVERRIDES: receivers.hostOverrides,
        WEBHOOK_TIMEOUT_SECONDS: String(timeoutMs / 1000),
        RATE_LIMIT_PER_IP: "10000:10000",
      },
    });
    publisher = await connectLinkPublisher(system.topicPrefix);
    for (let index = 0; index < accountCount; index += 1) {
      const merchant = await createMerchant(system, `hostile_${index}`);
      merchants.push(merchant);
      for (let endpointIndex = 0; endpointIndex < endpointsPerAccount; endpointIndex += 1) {
        const host = (index + endpointIndex) % 2 === 0 ? "drip.test" : "endless.test";
        await registerEndpoint(system, merchant, `https://${host}/${index}/${endpointIndex}`);
      }
    }
  });

  afterAll(async () => {
    await publisher?.close();
    await system?.close();
    receivers?.close();
  });

  const getDispatcher = () => {
    const replica = system.replicas.find(({ service }) => service === "webhook-dispatcher");
    if (replica === undefined) throw new Error("the dispatcher is missing");
    return replica;
  };

  /** Returns the number of delivery slots in use, from the dispatcher's own metric. */
  const readInFlightCount = async (): Promise<number> => {
    const { body } = await request(`http://127.0.0.1:${getDispatcher().internalPort}/metrics`);
    const text = await body.text();
    const value = /^payment_links_webhook_attempts_under_way\{.*\} (\d+)$/m.exec(text)?.[1];
    return value === undefined ? Number.NaN : Number(value);
  };

  const warmUpDispatcher = async (): Promise<void> => {
    const merchant = await createMerchant(system, "healthy");
    await registerEndpoint(system, merchant, "https://healthy.test/hook");
    await publisher.publish(
      Array.from({ length: warmUpCount }, () => createCompletedLinkRecord(merchant.userId)),
    );
    await waitUntil("the dispatcher is warmed up", () => receivers.healthyCount() >= warmUpCount);
    await waitUntil("no attempt is in flight", async () => (await readInFlightCount()) === 0);
  };

  /**
   * Publishes one event for every account. It causes an attempt at each of the 200 endpoints. Half
   * of the attempts last until they time out.
   */
  const runWave = async (): Promise<void> => {
    const { drip, endless } = receivers.connectionStats;
    const endedCountsBefore = [drip, endless].map(({ durationsMs }) => durationsMs.length);
    await publisher.publish(merchants.map(({ userId }) => createCompletedLinkRecord(userId)));
    await waitUntil(
      "all dripping endpoints occupy a slot",
      () => drip.openCount === endpointCount / 2,
    );
    expect(await readInFlightCount()).toBeGreaterThanOrEqual(endpointCount / 2);
    // Without a timeout, these attempts would never end.
    await waitUntil("all slots are free again", async () => (await readInFlightCount()) === 0);
    expect([drip, endless].map(({ durationsMs }) => durationsMs.length)).toEqual(
      endedCountsBefore.map((count) => count + endpointCount / 2),
    );
  };

  test("add at most 64 MiB of memory, and free every slot within the deadline", async () => {
    await warmUpDispatcher();
    const residentBytesBefore = readResidentBytes(getDispatcher().pid());
    const memory = watchMemory(getDispatcher().pid());
    try {
      for (let waveIndex = 0; waveIndex < waveCount; waveIndex += 1) await runWave();
    } finally {
      process.stderr.write(
        `resident: ${formatMib(residentBytesBefore)} before, ${formatMib(memory.stop())} at most\n`,
      );
    }
    expect(memory.stop() - residentBytesBefore).toBeLessThan(growthBytesMax);
    const { drip, endless } = receivers.connectionStats;
    const longestMs = Math.max(...drip.durationsMs, ...endless.durationsMs);
    expect(longestMs).toBeLessThan(hangLimitMs(timeoutMs));
  });
});

const formatMib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
