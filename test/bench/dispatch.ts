import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { request } from "undici";
import * as z from "zod";
import { outgoing } from "@payment-links/bus";
import { Decimal, type PaymentLinkState, linkCompleted, newId } from "@payment-links/contracts";
import { type Child, startChild, waitListening } from "../rig/child.ts";
import { type Merchant, call, openMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { type RealSystem, openRealSystem } from "../rig/real-system.ts";
import { waitUntil } from "../rig/wait-until.ts";
import { openBenchServers } from "./bench-servers.ts";
import { median } from "./load.ts";
import { cpuMsOf, cpuMsOfTree, parentOf } from "./process-cpu.ts";
import type { Verdict } from "./rounds.ts";

const deliveryCount = 20_000;
const roundCount = 3;
const warmUpCount = 4_000;
const slotsPerEndpoint = 20;
const recordsPerSend = 500;
const runMsMax = 120_000;
const bodyBytes = 1_024;

type Run = { rate: number; cpuMs: number; commits: number };

/**
 * From a record in Kafka to a recorded 2xx, one dispatcher: against a loop that signs and posts the
 * same bodies to the same sink, by turns, with one endpoint and with five. `ratio` is of the rates;
 * `cpuRatio` of the CPU per delivery, dispatcher and Postgres against the loop; the worst of each.
 */
export const benchDispatch = async (): Promise<Verdict> => {
  const servers = await openBenchServers();
  const [sinkPort = 0] = await findFreePorts(1);
  const sink = startChild("test/bench/sink-server.ts", { PORT: String(sinkPort) });
  await waitListening(sink);
  const shapes: Shape[] = [];
  try {
    for (const endpointCount of [1, 5]) shapes.push(await measureShape(sinkPort, endpointCount));
  } finally {
    await sink.end("SIGTERM");
    await servers.close();
  }
  const worst = shapes.toSorted((a, b) => a.ratio - b.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return {
    ...worst,
    cpuRatio: Math.max(...shapes.map(({ cpuRatio }) => cpuRatio)),
    commitsPerDelivery: Math.max(...shapes.map(({ commitsPerDelivery }) => commitsPerDelivery)),
    shapes,
  };
};

type Shape = Verdict & { endpoints: number; cpuRatio: number; commitsPerDelivery: number };

const measureShape = async (sinkPort: number, endpointCount: number): Promise<Shape> => {
  const system = await openRealSystem({
    replicasPerService: 1,
    redisDatabase: 0,
    env: {
      SETTLEMENT_PROVIDER_SECRETS: `acme=whsec_${Buffer.alloc(32, 1).toString("base64")}`,
      WEBHOOK_SECRET_KEYS: `bench=${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${sinkPort}`,
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  try {
    const merchant = await openMerchant(system, "bench");
    for (let index = 0; index < endpointCount; index += 1) {
      await register(system, merchant, `/hook-${index}`);
    }
    const bench = { system, admin, merchant, endpointCount, sinkPort };
    await runOurs(bench, warmUpCount);
    await runFloor(bench, warmUpCount);
    const ours: Run[] = [];
    const floor: Omit<Run, "commits">[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      ours.push(await runOurs(bench, deliveryCount));
      floor.push(await runFloor(bench, deliveryCount));
      tell(endpointCount, ours.at(-1), floor.at(-1));
    }
    return verdictOf(endpointCount, ours, floor);
  } finally {
    await admin.end();
    await system.close();
  }
};

const tell = (endpoints: number, ours?: Run, floor?: Omit<Run, "commits">): void => {
  if (ours === undefined || floor === undefined) return;
  process.stdout.write(
    `${endpoints} endpoints: ours ${ours.rate.toFixed(0)}/s, ${ours.cpuMs.toFixed(3)} ms CPU, ` +
      `${ours.commits.toFixed(4)} commits each; floor ${floor.rate.toFixed(0)}/s, ` +
      `${floor.cpuMs.toFixed(3)} ms CPU\n`,
  );
};

const verdictOf = (
  endpoints: number,
  ours: readonly Run[],
  floor: readonly Omit<Run, "commits">[],
): Shape => {
  const rate = median(ours.map((run) => run.rate));
  const floorRate = median(floor.map((run) => run.rate));
  const cpuMs = median(ours.map((run) => run.cpuMs));
  const floorCpuMs = median(floor.map((run) => run.cpuMs));
  return {
    endpoints,
    ours: Math.round(rate),
    floor: Math.round(floorRate),
    ratio: Number((rate / floorRate).toFixed(3)),
    cpuRatio: Number((cpuMs / floorCpuMs).toFixed(2)),
    commitsPerDelivery: Number(median(ours.map((run) => run.commits)).toFixed(4)),
  };
};

const register = async (system: RealSystem, { cookie }: Merchant, path: string): Promise<void> => {
  const answer = await call(`${system.baseUrl}/console/api/webhook-endpoints`, {
    method: "POST",
    headers: { cookie },
    body: { url: `https://receiver.test${path}`, name: path },
  });
  if (answer.status !== 201) throw new Error(`no endpoint: ${JSON.stringify(answer.body)}`);
};

type Bench = {
  system: RealSystem;
  admin: Client;
  merchant: Merchant;
  endpointCount: number;
  sinkPort: number;
};

const runOurs = async (bench: Bench, deliveries: number): Promise<Run> => {
  const { system, admin, endpointCount, sinkPort } = bench;
  const dispatcher = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  if (dispatcher === undefined) throw new Error("there is no dispatcher");
  const batches = recordsOf(bench, deliveries / endpointCount);
  const postmaster = parentOf(await backendPid(admin));
  const cpuMs = () => cpuMsOf(dispatcher.pid()) + cpuMsOfTree(postmaster);
  const sunkBefore = await countSunk(sinkPort);
  const [cpuBefore, commitsBefore] = [cpuMs(), await countCommits(admin)];
  const startedAt = performance.now();
  await produce(system.topicPrefix, batches);
  await waitUntil(
    "every delivery came",
    async () => (await countSunk(sinkPort)) >= sunkBefore + deliveries,
    runMsMax,
  );
  await waitUntil("every 2xx is recorded", async () => (await countOpen(admin)) === 0, runMsMax);
  const seconds = (performance.now() - startedAt) / 1000;
  const usedMs = cpuMs() - cpuBefore;
  const commits = (await countCommits(admin)) - commitsBefore;
  return { rate: deliveries / seconds, cpuMs: usedMs / deliveries, commits: commits / deliveries };
};

const Floor = z.object({ rate: z.number(), cpuMs: z.number() });

const runFloor = async (
  { endpointCount, sinkPort }: Bench,
  deliveries: number,
): Promise<Omit<Run, "commits">> => {
  const child: Child = startChild("test/bench/dispatch-floor.ts", {
    SINK_URL: `http://127.0.0.1:${sinkPort}`,
    COUNT: String(deliveries),
    CONNECTIONS: String(slotsPerEndpoint * endpointCount),
    BODY: "x".repeat(bodyBytes),
  });
  await waitUntil("the floor has ended", () => !child.isRunning(), runMsMax);
  return Floor.parse(JSON.parse(child.output()));
};

/** Completed links, each with a description that makes its webhook 1 KiB. */
const recordsOf = ({ merchant }: Bench, count: number) => {
  const records = Array.from({ length: count }, () => recordOf(merchant.userId));
  const batches = [];
  for (let at = 0; at < count; at += recordsPerSend) {
    batches.push(records.slice(at, at + recordsPerSend));
  }
  return batches;
};

const recordOf = (userId: string) => {
  const now = new Date();
  const link: PaymentLinkState = {
    id: newId("plink"),
    version: 2,
    userId,
    status: "completed",
    toAmount: new Decimal("25.5"),
    receivedAmount: new Decimal("25.5"),
    currentUsage: 1,
    maxUsage: null,
    description: "x".repeat(descriptionChars),
    expirationDate: null,
    destinationAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    chainId: "8453",
    tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    paymentReference: "00".repeat(16),
    dateCreated: now,
  };
  const { event, key, data } = outgoing(linkCompleted, {
    key: link.id,
    occurredAt: now,
    data: { link },
  });
  return {
    key,
    value: JSON.stringify(z.encode(event.data, data)),
    headers: {
      ce_specversion: "1.0",
      ce_id: newId("evt"),
      ce_source: "links-api",
      ce_type: event.type,
      ce_time: now.toISOString(),
    },
  };
};

const descriptionChars = 600;

const produce = async (
  topicPrefix: string,
  batches: readonly ReturnType<typeof recordOf>[][],
): Promise<void> => {
  const brokers = (process.env["KAFKA_BROKERS"] ?? "").split(",");
  const producer = new Kafka({ brokers, logLevel: logLevel.ERROR }).producer();
  await producer.connect();
  const topic = `${topicPrefix}${linkCompleted.topic}`;
  for (const messages of batches) await producer.send({ topic, messages });
  await producer.disconnect();
};

const countSunk = async (port: number): Promise<number> =>
  Number(await (await request(`http://127.0.0.1:${port}/count`)).body.text());

const backendPid = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? -1;
};

const countOpen = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int AS count FROM webhook_dispatcher.deliveries
    WHERE next_attempt_at IS NOT NULL OR lease_until IS NOT NULL`);
  return rows[0]?.count ?? -1;
};

/** Commits of the whole database so far; backends tell of theirs once they have been idle a moment. */
const countCommits = async (admin: Client): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, statisticsDelayMs));
  const { rows } = await admin.query<{ count: string }>(`
    SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()`);
  return Number(rows[0]?.count);
};

const statisticsDelayMs = 1_500;
