import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { Pool } from "undici";
import { createMerchant } from "../rig/client.ts";
import { connectLinkPublisher, createCompletedLinkRecord } from "../rig/completed-links.ts";
import { percentile } from "../rig/percentile.ts";
import { startRealSystem } from "../rig/real-system.ts";
import { signWebhook } from "../rig/receiver.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { buildShopEnv } from "../rig/shop-env.ts";
import { startArrivalReceiver } from "./arrival-receiver.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type Bench, type OnEnd, compare, median, round, takeTurns } from "./harness.ts";
import { callEvenly, warmUp } from "./load.ts";
import { createMeters, formatCalls, measureCalls } from "./meters.ts";

const perSecond = Number(process.env["RATE"] ?? 50);
const replicasPerService = Number(process.env["REPLICAS"] ?? 1);
const roundCount = Number(process.env["ROUNDS"] ?? 3);
const secondsPerRound = 10;
const warmUpStepSeconds = 5;
/** The description of each link. It makes the webhook 1 KiB long. */
const description = "x".repeat(600);

/**
 * Measures webhook-dispatcher alone at `RATE` (50) events per second, with `REPLICAS` (1): the time
 * from the call that produces the record until the first byte of the webhook, and the CPU time per
 * event of the dispatcher, Postgres, Kafka and Redis, with their idle time. Compares it, in
 * `ROUNDS` (3) turns, with a signed POST of the same size to the same receiver.
 */
export const benchDispatchLatency: Bench = async (onEnd) => {
  const servers = await startBenchServers();
  onEnd(servers.close);
  const receiver = await startArrivalReceiver(({ paymentLinkId }) => paymentLinkId);
  onEnd(receiver.close);
  const system = await startRealSystem({
    replicasPerService,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: buildShopEnv(receiver),
  });
  onEnd(() => system.close());
  const admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  const merchant = await createMerchant(system, "bench");
  await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const publisher = await connectLinkPublisher(system.topicPrefix);
  onEnd(publisher.close);
  const sendRecord = async (): Promise<number> => {
    const record = createCompletedLinkRecord(merchant.userId, description);
    const calledAt = performance.now();
    await publisher.publish([record]);
    return (await receiver.waitForArrival(record.linkId)) - calledAt;
  };
  const sendPost = createPoster(onEnd, receiver);
  for (const call of [sendRecord, sendPost])
    await warmUp(call, { perSecond, stepSeconds: warmUpStepSeconds });
  const startMeters = await createMeters({ admin, system });
  const callOptions = { count: secondsPerRound * perSecond, perSecond };
  const rounds = await takeTurns(
    roundCount,
    {
      ours: () => measureCalls(startMeters, () => callEvenly(sendRecord, callOptions)),
      floor: () => measureCalls(startMeters, () => callEvenly(sendPost, callOptions)),
    },
    formatCalls,
  );
  const listMs = (side: keyof typeof rounds) =>
    rounds[side].flatMap(({ durationsMs }) => durationsMs);
  const compareAt = (share: number) =>
    compare(percentile(listMs("ours"), share), percentile(listMs("floor"), share));
  const p99 = compareAt(0.99);
  return {
    ...compareAt(0.5),
    oursP99: p99.ours,
    floorP99: p99.floor,
    cpuMs: round(median(rounds.ours.map(({ cpuMs }) => cpuMs))),
  };
};

const createPoster = (
  onEnd: OnEnd,
  receiver: Awaited<ReturnType<typeof startArrivalReceiver>>,
): (() => Promise<number>) => {
  const pool = new Pool(`http://127.0.0.1:${receiver.port}`, { connections: 20, pipelining: 1 });
  onEnd(() => pool.close());
  const secret = `whsec_${"0".repeat(64)}`;
  return async () => {
    const paymentLinkId = randomUUID();
    const calledAt = performance.now();
    const body = JSON.stringify({ data: { paymentLinkId, description } });
    const headers = signWebhook(secret, body);
    const response = await pool.request({ method: "POST", path: "/hook", headers, body });
    await response.body.dump();
    return (await receiver.waitForArrival(paymentLinkId)) - calledAt;
  };
};
