import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import * as z from "zod";
import { openMerchant } from "./rig/client.ts";
import { completedLink, openTeller } from "./rig/completed-links.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { shopEnv } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const eventCount = 10_000;
const paths = ["/one", "/two"] as const;
const deliveryCount = eventCount * paths.length;
const dispatcherCount = 3;
const killCount = 10;
const slotsPerEndpoint = 20;
const attemptsMax = 6;
/** How long the receiver takes to answer: so long that kills happen in the middle of deliveries. */
const answerMs = 250;
/** Every so many attempts it takes longer: so long that a lease which ends too soon would show. */
const slowEvery = 50;
const slowMs = 1_500;
/**
 * For every so many events, the second endpoint fails at first, while the first one answers 2xx.
 */
const refusedEvery = 4;
/** How long it takes while it is ahead of the kills, which a busy machine makes late. */
const aheadMs = 2_000;
/** A 2xx that is older than this at a kill has been written for certain, on a busy machine too. */
const writeMsMax = 8_000;
/** Within so many turns of the event loop after a process's end, all its connections have ended. */
const turnsMax = 10;
const waitMsMax = 120_000;

/** One attempt as the receiver saw it; times are milliseconds of this process's clock. */
type Attempt = {
  path: string;
  linkId: string;
  deliveryId: string;
  beganAt: number;
  /** When the 2xx was handed over; undefined where it was refused, or the sender was gone. */
  succeededAt?: number;
  connection: Connection;
};

type Connection = { closedAt?: number };

const Webhook = z.object({ data: z.object({ paymentLinkId: z.string() }) });

/** Takes a while over each webhook, and notes which attempts of one delivery overlap. */
const openReceiver = async () => {
  const attempts: Attempt[] = [];
  const underWay = new Map<string, number>();
  const overlaps: string[] = [];
  const refused = new Set<string>();
  const connections = new WeakMap<Socket, Connection>();
  let linksSeen = 0;
  let attemptsWanted = deliveryCount / (killCount + 1);

  const statusOf = ({ path, linkId }: Attempt): number => {
    if (path !== "/two" || refused.has(linkId)) return 200;
    linksSeen += 1;
    if (linksSeen % refusedEvery !== 0) return 200;
    refused.add(linkId);
    return 503;
  };
  const server = createServer(async (req, res) => {
    const beganAt = performance.now();
    const deliveryId = String(req.headers["service-event-id"]);
    const count = (underWay.get(deliveryId) ?? 0) + 1;
    underWay.set(deliveryId, count);
    if (count > 1) overlaps.push(deliveryId);
    res.on("close", () => underWay.set(deliveryId, (underWay.get(deliveryId) ?? 0) - 1));
    const linkId = await readLinkId(req).catch(() => undefined);
    // The sender ended in the middle of its own request.
    if (linkId === undefined) return;
    const connection = connections.get(req.socket) ?? {};
    const attempt: Attempt = { path: req.url ?? "", linkId, deliveryId, beganAt, connection };
    attempts.push(attempt);
    const status = statusOf(attempt);
    const usualMs = attempts.length % slowEvery === 0 ? slowMs : answerMs;
    await injectDelay("slow peer", attempts.length > attemptsWanted ? aheadMs : usualMs);
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    attempts,
    /** So many kills are over: what is left must last for the others. */
    keepFor: (kills: number) => {
      const share = (kills + 1) / (killCount + 1);
      attemptsWanted = kills === killCount ? Infinity : deliveryCount * share;
    },
    /** Deliveries of which an attempt came while another was under way. */
    overlaps,
    /** How many attempts are waiting for their answer now. */
    underWayCount: () => [...underWay.values()].reduce((sum, count) => sum + count, 0),
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
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  let system: RealSystem;
  let admin: Client;

  beforeAll(async () => {
    receiver = await openReceiver();
    const env = {
      ...shopEnv(receiver),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // The default deadline. A dispatcher that has just started on a busy machine may need seconds
      // for its first attempts, and an attempt that is given up after its answer was sent looks
      // like one that was sent again. A lease ends 20 s after the deadline, and interrupted
      // attempts are soon tried again.
      WEBHOOK_TIMEOUT_SECONDS: "10",
      WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,0.2,0.2,0.2,0.2,0.2",
      RATE_LIMIT_PER_IP: "10000:10000",
    };
    system = await openRealSystem({
      replicasPerService: dispatcherCount,
      only: ["auth-keys", "webhook-dispatcher"],
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
  const countOpen = () => countRows("deliveries");
  const countEnded = () => countRows("delivery_log");

  test("each reaches a 2xx, never by two attempts at once, and no sibling is sent again", async () => {
    const merchant = await openMerchant(system, "kills");
    for (const path of paths)
      await registerEndpoint(system, merchant, `https://receiver.test${path}`);
    const links = Array.from({ length: eventCount }, () => completedLink(merchant.userId));
    const teller = await openTeller(system.topicPrefix);
    await teller.tell(links);
    await teller.close();

    const kills = await killByTurns();
    // None may be open for a moment while a dispatcher still hears of events.
    await waitUntil(
      "every delivery is over",
      async () => (await countEnded()) >= deliveryCount && (await countOpen()) === 0,
    );
    // A result may be written a moment before the receiver has noted what it answered.
    await waitUntil("every answer is out", () => receiver.underWayCount() === 0);

    const byDelivery = Map.groupBy(receiver.attempts, ({ deliveryId }) => deliveryId);
    const repeated = receiver.attempts.length - byDelivery.size;
    process.stderr.write(
      `${byDelivery.size} deliveries, ${repeated} attempts repeated, ` +
        `${kills.reduce((sum, { underWay }) => sum + underWay, 0)} under way at kills\n`,
    );
    expect(byDelivery.size).toBe(deliveryCount);
    expect(receiver.overlaps).toEqual([]);
    // Without these, nothing below would have been tested.
    expect(repeated).toBeGreaterThan(eventCount / refusedEvery);

    const deliveriesByFact = Map.groupBy(
      receiver.attempts,
      ({ path, linkId }) => `${path} ${linkId}`,
    );
    expect(deliveriesByFact.size).toBe(deliveryCount);
    const withOtherIds = [...deliveriesByFact.values()].filter(
      (attempts) => new Set(attempts.map(({ deliveryId }) => deliveryId)).size > 1,
    );
    expect(withOtherIds).toEqual([]);

    const all = [...byDelivery.values()];
    expect(all.filter((attempts) => attempts.every(isUnanswered))).toEqual([]);
    expect(all.filter(({ length }) => length > attemptsMax)).toEqual([]);
    const sentAgain = all.filter((attempts) => isSentAgain(attempts, kills));
    if (sentAgain.length > 0)
      process.stderr.write(`kills at ${kills.map(({ at }) => at).join()}\n`);
    expect(sentAgain).toEqual([]);

    const { rows } = await admin.query<{ status: string; attempts: number; count: number }>(`
      SELECT status, max(attempts)::int AS attempts, count(*)::int AS count
      FROM webhook_dispatcher.delivery_log GROUP BY status`);
    expect(rows).toEqual([
      { status: "Delivered", attempts: expect.any(Number), count: deliveryCount },
    ]);
    expect(rows[0]?.attempts).toBeLessThanOrEqual(attemptsMax);
  });

  /** Kills one dispatcher after another in the middle of attempts, and starts each again. */
  const killByTurns = async (): Promise<Kill[]> => {
    const dispatchers = system.replicas.filter(({ service }) => service === "webhook-dispatcher");
    const kills: Kill[] = [];
    const starting: Promise<void>[] = [];
    for (let index = 0; index < killCount; index += 1) {
      const victim = dispatchers[index % dispatchers.length];
      if (victim === undefined) throw new Error("there is no dispatcher");
      // It was started a while ago: only one is down at a time.
      await starting.at(-1);
      const fresh = receiver.attempts.length + attemptsPerKill;
      await waitUntil("more attempts", () => receiver.attempts.length >= fresh);
      const underWay = receiver.underWayCount();
      const at = performance.now();
      await victim.kill();
      for (let turn = 0; turn < turnsMax; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      kills.push({ at, noticedAt: performance.now(), underWay });
      receiver.keepFor(kills.length);
      starting.push(victim.start());
    }
    await Promise.all(starting);
    const open = await countOpen();
    process.stderr.write(`at the last kill ${open} deliveries were still open\n`);
    expect(open).toBeGreaterThan(0);
    return kills;
  };
});

const attemptsPerKill = 300;

/** A kill, and when this process had noticed the end of each of its connections. */
type Kill = { at: number; noticedAt: number; underWay: number };

const isUnanswered = ({ succeededAt }: Attempt): boolean => succeededAt === undefined;

/**
 * Whether a delivery that had its 2xx was sent again without an excuse. The one excuse is that its
 * process was killed before it could write the 2xx: then its connection ended with that kill, too.
 */
const isSentAgain = (attempts: readonly Attempt[], kills: readonly Kill[]): boolean => {
  const last = Math.max(...attempts.map(({ beganAt }) => beganAt));
  return attempts.some(({ succeededAt, connection: { closedAt } }) => {
    if (succeededAt === undefined || last <= succeededAt) return false;
    if (closedAt === undefined || closedAt - succeededAt > writeMsMax) return true;
    const isExcused = kills.some(({ at, noticedAt }) => closedAt >= at && closedAt <= noticedAt);
    return !isExcused;
  });
};
