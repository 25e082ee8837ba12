import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { request } from "undici";
import { type Merchant, openMerchant } from "./rig/client.ts";
import { type Teller, completedLink, openTeller } from "./rig/completed-links.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { residentBytesOf, watchMemory } from "./rig/resident-memory.ts";
import { sealingKey } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";

const accountCount = 40;
const endpointsPerAccount = 5;
const endpointCount = accountCount * endpointsPerAccount;
const waveCount = 3;
const warmUpCount = 4_000;
/** Shorter than the default: it is enforced in the same way, and three waves wait for it. */
const timeoutMs = 4_000;
const dripMs = 100;
const growthBytesMax = 64 * 1024 * 1024;

/** How long the connections of one kind of receiver lasted, and how many there are now. */
type Held = { nowCount: number; durationsMs: number[] };

const listen = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );

/**
 * Answers 200 to all: at once, byte by byte, or with a body as fast as it is taken and without end.
 */
const openReceivers = async () => {
  const held = {
    drip: { nowCount: 0, durationsMs: [] },
    endless: { nowCount: 0, durationsMs: [] },
  };
  const hold = (it: Held): (() => void) => {
    const heldSince = performance.now();
    it.nowCount += 1;
    return () => {
      it.nowCount -= 1;
      it.durationsMs.push(performance.now() - heldSince);
    };
  };
  let healthyCount = 0;
  const healthy = createServer((req, res) => {
    healthyCount += 1;
    req.resume();
    res.end();
  });
  const drip = createServer((req, res) => {
    const release = hold(held.drip);
    req.resume();
    res.writeHead(200).flushHeaders();
    const timer = setInterval(() => res.write("."), dripMs);
    res.on("close", () => {
      clearInterval(timer);
      release();
    });
  });
  const chunk = Buffer.alloc(64 * 1024, "x");
  const endless = createServer((req, res) => {
    const release = hold(held.endless);
    req.resume();
    res.writeHead(200);
    const write = () => {
      while (!res.destroyed && res.write(chunk));
    };
    res.on("drain", write);
    res.on("close", release);
    write();
  });
  const servers = [healthy, drip, endless];
  const [healthyPort, dripPort, endlessPort] = await Promise.all(servers.map(listen));
  return {
    overrides: [
      `healthy.test=http://127.0.0.1:${healthyPort}`,
      `drip.test=http://127.0.0.1:${dripPort}`,
      `endless.test=http://127.0.0.1:${endlessPort}`,
    ].join(),
    held,
    healthyCount: () => healthyCount,
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};

describe("100 endpoints that drip and 100 whose bodies never end", () => {
  let receivers: Awaited<ReturnType<typeof openReceivers>>;
  let system: RealSystem;
  let teller: Teller;
  const merchants: Merchant[] = [];

  beforeAll(async () => {
    receivers = await openReceivers();
    system = await openRealSystem({
      replicasPerService: 1,
      only: ["auth-keys", "webhook-dispatcher"],
      env: {
        WEBHOOK_SECRET_KEYS: sealingKey,
        WEBHOOK_HOST_OVERRIDES: receivers.overrides,
        WEBHOOK_TIMEOUT_SECONDS: String(timeoutMs / 1000),
        RATE_LIMIT_PER_IP: "10000:10000",
      },
    });
    teller = await openTeller(system.topicPrefix);
    for (let index = 0; index < accountCount; index += 1) {
      const merchant = await openMerchant(system, `hostile_${index}`);
      merchants.push(merchant);
      for (let nth = 0; nth < endpointsPerAccount; nth += 1) {
        const host = (index + nth) % 2 === 0 ? "drip.test" : "endless.test";
        await registerEndpoint(system, merchant, `https://${host}/${index}/${nth}`);
      }
    }
  });

  afterAll(async () => {
    await teller?.close();
    await system?.close();
    receivers?.close();
  });

  const dispatcher = () => {
    const found = system.replicas.find(({ service }) => service === "webhook-dispatcher");
    if (found === undefined) throw new Error("there is no dispatcher");
    return found;
  };

  /** The dispatcher's own count of the slots taken. */
  const readUnderWay = async (): Promise<number> => {
    const { body } = await request(`http://127.0.0.1:${dispatcher().internalPort}/metrics`);
    const text = await body.text();
    const value = /^payment_links_webhook_attempts_under_way\{.*\} (\d+)$/m.exec(text)?.[1];
    return value === undefined ? Number.NaN : Number(value);
  };

  const warmUp = async (): Promise<void> => {
    const merchant = await openMerchant(system, "healthy");
    await registerEndpoint(system, merchant, "https://healthy.test/hook");
    await teller.tell(Array.from({ length: warmUpCount }, () => completedLink(merchant.userId)));
    await waitUntil("it is warm", () => receivers.healthyCount() >= warmUpCount);
    await waitUntil("it rests", async () => (await readUnderWay()) === 0);
  };

  /**
   * One event for every account: an attempt at each of the 200, of which half last to the deadline.
   */
  const runWave = async (): Promise<void> => {
    const { drip, endless } = receivers.held;
    const endedCounts = [drip, endless].map(({ durationsMs }) => durationsMs.length);
    await teller.tell(merchants.map(({ userId }) => completedLink(userId)));
    await waitUntil("all that drip hold a slot", () => drip.nowCount === endpointCount / 2);
    expect(await readUnderWay()).toBeGreaterThanOrEqual(endpointCount / 2);
    // Without a deadline, these attempts never end.
    await waitUntil("every slot is back", async () => (await readUnderWay()) === 0);
    expect([drip, endless].map(({ durationsMs }) => durationsMs.length)).toEqual(
      endedCounts.map((count) => count + endpointCount / 2),
    );
  };

  test("memory stays within 64 MiB of before, and every slot is back within the deadline", async () => {
    await warmUp();
    const before = residentBytesOf(dispatcher().pid());
    const memory = watchMemory(dispatcher().pid());
    try {
      for (let wave = 0; wave < waveCount; wave += 1) await runWave();
    } finally {
      process.stderr.write(`resident: ${mib(before)} before, ${mib(memory.stop())} at most\n`);
    }
    expect(memory.stop() - before).toBeLessThan(growthBytesMax);
    const { drip, endless } = receivers.held;
    const longestMs = Math.max(...drip.durationsMs, ...endless.durationsMs);
    expect(longestMs).toBeLessThan(hangLimitMs(timeoutMs));
  });
});

const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
