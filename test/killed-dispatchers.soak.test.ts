import { type IncomingMessage, createServer } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import * as z from "zod";
import { createMerchant } from "./rig/client.ts";
import { createCompletedLinkRecord, connectLinkPublisher } from "./rig/completed-links.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { buildShopEnv } from "./rig/shop-env.ts";
import { listenOnFreePort } from "@payment-links/runtime/testing/free-port";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const eventCount = 10_000;
const paths = ["/one", "/two"] as const;
const deliveryCount = eventCount * paths.length;
const dispatcherCount = 3;
const killCount = 10;
const slotsPerEndpoint = 20;
const attemptsMax = 6;
/**
 * How long the receiver takes to respond. This is long enough for kills to happen during
 * deliveries.
 */
const responseDelayMs = 250;
/** Every 50th attempt takes longer, which reveals leases that expire too early. */
const slowAttemptInterval = 50;
const slowResponseDelayMs = 1_500;
/**
 * For every 4th event, the second endpoint fails at first while the first endpoint responds with
 * 2xx.
 */
const rejectedEventInterval = 4;
/**
 * The receiver's delay while the deliveries progress faster than the kills. A busy machine delays
 * the kills.
 */
const aheadDelayMs = 2_000;
/**
 * If a 2xx response is older than this at a kill, it has certainly been stored, even on a busy
 * machine.
 */
const writeMsMax = 8_000;
/**
 * After a process has exited, all its connections are closed within this many turns of the event
 * loop.
 */
const eventLoopTurnsMax = 10;
const waitMsMax = 120_000;

/** An attempt as recorded by the receiver. Times are in milliseconds of this process's clock. */
type Attempt = {
  path: string;
  linkId: string;
  deliveryId: string;
  startedAt: number;
  /**
   * The time when the 2xx response was sent. Undefined if the attempt was rejected or the sender
   * was gone.
   */
  succeededAt?: number;
  connection: Connection;
};

type Connection = { closedAt?: number };

const Webhook = z.object({ data: z.object({ paymentLinkId: z.string() }) });

/** Starts a slow receiver that records overlapping attempts of the same delivery. */
const startReceiver = async () => {
  const attempts: Attempt[] = [];
  const inFlightCounts = new Map<string, number>();
  const overlappingDeliveryIds: string[] = [];
  const rejectedLinkIds = new Set<string>();
  const connections = new WeakMap<Socket, Connection>();
  let seenLinkCount = 0;
  let attemptsBeforeKill = deliveryCount / (killCount + 1);

  const chooseStatus = ({ path, linkId }: Attempt): number => {
    if (path !== "/two" || rejectedLinkIds.has(linkId)) return 200;
    seenLinkCount += 1;
    if (seenLinkCount % rejectedEventInterval !== 0) return 200;
    rejectedLinkIds.add(linkId);
    return 503;
  };
  const server = createServer(async (req, res) => {
    const startedAt = performance.now();
    const deliveryId = String(req.headers["service-event-id"]);
    const deliveryInFlightCount = (inFlightCounts.get(deliveryId) ?? 0) + 1;
    inFlightCounts.set(deliveryId, deliveryInFlightCount);
    if (deliveryInFlightCount > 1) overlappingDeliveryIds.push(deliveryId);
    res.on("close", () =>
      inFlightCounts.set(deliveryId, (inFlightCounts.get(deliveryId) ?? 0) - 1),
    );
    const linkId = await readLinkId(req).catch(() => undefined);
    // The sender was killed while it was sending the request.
    if (linkId === undefined) return;
    const connection = connections.get(req.socket) ?? {};
    const attempt: Attempt = { path: req.url ?? "", linkId, deliveryId, startedAt, connection };
    attempts.push(attempt);
    const status = chooseStatus(attempt);
    const normalDelayMs =
      attempts.length % slowAttemptInterval === 0 ? slowResponseDelayMs : responseDelayMs;
    await injectDelay(
      "slow peer",
      attempts.length > attemptsBeforeKill ? aheadDelayMs : normalDelayMs,
    );
    if (req.socket.destroyed) return;
    res.writeHead(status).end();
    if (status === 200) attempt.succeededAt = performance.now();
  });
  server.on("connection", (socket) => {
    const connection: Connection = {};
    connections.set(socket, connection);
    socket.once("close", () => (connection.closedAt = performance.now()));
  });
  server.keepAliveTimeout = waitMsMax;
  const port = await listenOnFreePort(server);
  return {
    port,
    attempts,
    /**
     * Adjusts the pace to the number of completed kills, so that enough attempts remain for the
     * remaining kills.
     */
    spreadAttempts: (killsDone: number) => {
      const fraction = (killsDone + 1) / (killCount + 1);
      attemptsBeforeKill = killsDone === killCount ? Infinity : deliveryCount * fraction;
    },
    /** Deliveries with an attempt that arrived while another attempt was in progress. */
    overlappingDeliveryIds,
    /** Returns the number of attempts that are waiting for a response. */
    getInFlightCount: () => [...inFlightCounts.values()].reduce((sum, count) => sum + count, 0),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const readLinkId = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Webhook.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))).data.paymentLinkId;
};

describe("20,000 deliveries while dispatchers are killed", () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let system: RealSystem;
  let admin: Client;

  beforeAll(async () => {
    receiver = await startReceiver();
    const env = {
      ...buildShopEnv(receiver),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // The default timeout. A dispatcher that has just started on a busy machine can need several
      // seconds for its first attempts. An attempt that times out after the response was sent would
      // look like a repeated attempt. A lease ends 20 s after the timeout, and interrupted attempts
      // are then retried soon.
      WEBHOOK_TIMEOUT_SECONDS: "10",
      WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,0.2,0.2,0.2,0.2,0.2",
      RATE_LIMIT_PER_IP: "10000:10000",
    };
    system = await startRealSystem({
      replicasPerService: dispatcherCount,
      startedServices: ["auth-keys", "webhook-dispatcher"],
      env,
    });
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
  });

  afterAll(async () => {
    await admin?.end();
    await system?.close();
    await receiver?.close();
  });

  const countRows = async (table: "deliveries" | "delivery_log"): Promise<number> => {
    const { rows } = await admin.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_dispatcher.${table}`,
    );
    return rows[0]?.count ?? -1;
  };
  const countPendingDeliveries = () => countRows("deliveries");
  const countEndedDeliveries = () => countRows("delivery_log");

  test("each reach a 2xx, never by two attempts at the same time, and no sibling delivery is repeated", async () => {
    const merchant = await createMerchant(system, "kills");
    for (const path of paths)
      await registerEndpoint(system, merchant, `https://receiver.test${path}`);
    const links = Array.from({ length: eventCount }, () =>
      createCompletedLinkRecord(merchant.userId),
    );
    const publisher = await connectLinkPublisher(system.topicPrefix);
    await publisher.publish(links);
    await publisher.close();

    const kills = await killDispatchersInTurn();
    // The number of pending deliveries can briefly be 0 while a dispatcher is still receiving
    // events.
    await waitUntil(
      "all deliveries are finished",
      async () =>
        (await countEndedDeliveries()) >= deliveryCount && (await countPendingDeliveries()) === 0,
    );
    // A result can be stored shortly before the receiver records its response.
    await waitUntil("all responses are sent", () => receiver.getInFlightCount() === 0);

    const attemptsByDelivery = Map.groupBy(receiver.attempts, ({ deliveryId }) => deliveryId);
    const repeatedAttemptCount = receiver.attempts.length - attemptsByDelivery.size;
    process.stderr.write(
      `${attemptsByDelivery.size} deliveries, ${repeatedAttemptCount} attempts repeated, ` +
        `${kills.reduce((sum, { inFlightCount }) => sum + inFlightCount, 0)} in flight at kills\n`,
    );
    expect(attemptsByDelivery.size).toBe(deliveryCount);
    expect(receiver.overlappingDeliveryIds).toEqual([]);
    // Without repeated attempts, the assertions below would be meaningless.
    expect(repeatedAttemptCount).toBeGreaterThan(eventCount / rejectedEventInterval);

    const attemptsByEvent = Map.groupBy(
      receiver.attempts,
      ({ path, linkId }) => `${path} ${linkId}`,
    );
    expect(attemptsByEvent.size).toBe(deliveryCount);
    const eventsWithSeveralIds = [...attemptsByEvent.values()].filter(
      (attempts) => new Set(attempts.map(({ deliveryId }) => deliveryId)).size > 1,
    );
    expect(eventsWithSeveralIds).toEqual([]);

    const attemptLists = [...attemptsByDelivery.values()];
    expect(attemptLists.filter((attempts) => attempts.every(hasNoSuccess))).toEqual([]);
    expect(attemptLists.filter(({ length }) => length > attemptsMax)).toEqual([]);
    const resentDeliveries = attemptLists.filter((attempts) => wasResent(attempts, kills));
    if (resentDeliveries.length > 0)
      process.stderr.write(`kills at ${kills.map(({ killedAt }) => killedAt).join()}\n`);
    expect(resentDeliveries).toEqual([]);

    const { rows } = await admin.query<{ status: string; attempts: number; count: number }>(`
      SELECT status, max(attempts)::int AS attempts, count(*)::int AS count
      FROM webhook_dispatcher.delivery_log GROUP BY status`);
    expect(rows).toEqual([
      { status: "Delivered", attempts: expect.any(Number), count: deliveryCount },
    ]);
    expect(rows[0]?.attempts).toBeLessThanOrEqual(attemptsMax);
  });

  /** Kills one dispatcher after another during attempts, and restarts each of them. */
  const killDispatchersInTurn = async (): Promise<Kill[]> => {
    const dispatchers = system.replicas.filter(({ service }) => service === "webhook-dispatcher");
    const kills: Kill[] = [];
    const restarts: Promise<void>[] = [];
    for (let index = 0; index < killCount; index += 1) {
      const dispatcher = dispatchers[index % dispatchers.length];
      if (dispatcher === undefined) throw new Error("the dispatcher is missing");
      // Waits for the previous restart, so that only one dispatcher is down at a time.
      await restarts.at(-1);
      const nextKillCount = receiver.attempts.length + attemptsPerKill;
      await waitUntil("more attempts arrive", () => receiver.attempts.length >= nextKillCount);
      const inFlightCount = receiver.getInFlightCount();
      const killedAt = performance.now();
      await dispatcher.kill();
      for (let turnIndex = 0; turnIndex < eventLoopTurnsMax; turnIndex += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      kills.push({ killedAt, noticedAt: performance.now(), inFlightCount });
      receiver.spreadAttempts(kills.length);
      restarts.push(dispatcher.start());
    }
    await Promise.all(restarts);
    const pendingCount = await countPendingDeliveries();
    process.stderr.write(`at the last kill ${pendingCount} deliveries were still open\n`);
    expect(pendingCount).toBeGreaterThan(0);
    return kills;
  };
});

const attemptsPerKill = 300;

/**
 * A kill, and the time by which this process had detected that all connections of the killed
 * process were closed.
 */
type Kill = { killedAt: number; noticedAt: number; inFlightCount: number };

const hasNoSuccess = ({ succeededAt }: Attempt): boolean => succeededAt === undefined;

/**
 * Returns true if a delivery was repeated after its 2xx without a valid reason. The only valid
 * reason is that its process was killed before it could store the 2xx. In this case, its connection
 * was closed by the kill.
 */
const wasResent = (attempts: readonly Attempt[], kills: readonly Kill[]): boolean => {
  const lastStartedAt = Math.max(...attempts.map(({ startedAt }) => startedAt));
  return attempts.some(({ succeededAt, connection: { closedAt } }) => {
    if (succeededAt === undefined || lastStartedAt <= succeededAt) return false;
    if (closedAt === undefined || closedAt - succeededAt > writeMsMax) return true;
    const isLostInKill = kills.some(
      ({ killedAt, noticedAt }) => closedAt >= killedAt && closedAt <= noticedAt,
    );
    return !isLostInKill;
  });
};
