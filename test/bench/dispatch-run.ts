import { Client } from "pg";
import { request } from "undici";
import { createCompletedLinkRecord, connectLinkPublisher } from "../rig/completed-links.ts";
import { type Merchant, createMerchant } from "../rig/client.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { readCpuMs, readCpuMsOfTree, readParentPid } from "./process-cpu.ts";

/** A dispatcher, an account with one or more endpoints, and the sink that receives all webhooks. */
export type DispatchBench = {
  system: RealSystem;
  admin: Client;
  merchant: Merchant;
  endpointCount: number;
  /** The port on which the sink returns the number of received deliveries. */
  sinkPort: number;
};

/**
 * The deliveries per second, and for each delivery the commits and the CPU time of the dispatcher
 * and Postgres.
 */
export type DispatchRun = { rate: number; cpuMs: number; commits: number };

/** The number of concurrent attempts. */
export const slotsPerEndpoint = 20;

/** The time limit of one run. */
export const runMsMax = 120_000;

/** The description of each link. It makes the webhook 1 KiB long. */
const description = "x".repeat(600);

/**
 * Starts a dispatcher, and an account with the given number of endpoints. All endpoints point to
 * the sink.
 */
export const createDispatchBench = async (options: {
  sinkPort: number;
  endpointCount: number;
  env?: Record<string, string>;
}): Promise<DispatchBench & { close(): Promise<void> }> => {
  const { endpointCount, env, sinkPort } = options;
  const system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: {
      SETTLEMENT_PROVIDER_SECRETS: `acme=whsec_${Buffer.alloc(32, 1).toString("base64")}`,
      WEBHOOK_SECRET_KEYS: `bench=${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${sinkPort}`,
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      ...env,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  const close = async (): Promise<void> => {
    await admin.end();
    await system.close();
  };
  try {
    await admin.connect();
    const merchant = await createMerchant(system, "bench");
    for (let index = 0; index < endpointCount; index += 1) {
      await registerEndpoint(system, merchant, `https://receiver.test/hook-${index}`);
    }
    return { system, admin, merchant, endpointCount, sinkPort, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/**
 * Sends the given number of deliveries. Measures from the records in Kafka until every 2xx is
 * recorded.
 */
export const runDispatch = async (
  { system, admin, merchant, endpointCount, sinkPort }: DispatchBench,
  deliveryCount: number,
): Promise<DispatchRun> => {
  const dispatcher = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  if (dispatcher === undefined) throw new Error("the dispatcher is missing");
  const links = Array.from({ length: deliveryCount / endpointCount }, () =>
    createCompletedLinkRecord(merchant.userId, description),
  );
  const postmasterPid = readParentPid(await backendPid(admin));
  const cpuMs = () => readCpuMs(dispatcher.pid()) + readCpuMsOfTree(postmasterPid);
  const receivedBefore = await countReceived(sinkPort);
  // The dispatcher is stopped while the records are written to Kafka, and the measurement starts
  // afterwards. The baseline also prepares its bodies before it starts.
  process.kill(dispatcher.pid(), "SIGSTOP");
  const publisher = await connectLinkPublisher(system.topicPrefix);
  await publisher.publish(links);
  await publisher.close();
  const [cpuBefore, commitsBefore] = [cpuMs(), await countCommits(admin)];
  const startedAt = performance.now();
  process.kill(dispatcher.pid(), "SIGCONT");
  await waitUntil(
    "all deliveries arrive",
    async () => (await countReceived(sinkPort)) >= receivedBefore + deliveryCount,
    runMsMax,
  );
  await waitUntil(
    "all 2xx responses are recorded",
    async () => (await countPendingDeliveries(admin)) === 0,
    runMsMax,
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const usedMs = cpuMs() - cpuBefore;
  const commits = (await countCommits(admin)) - commitsBefore;
  return {
    rate: deliveryCount / seconds,
    cpuMs: usedMs / deliveryCount,
    commits: commits / deliveryCount,
  };
};

const countReceived = async (port: number): Promise<number> =>
  Number(await (await request(`http://127.0.0.1:${port}/count`)).body.text());

const backendPid = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? -1;
};

const countPendingDeliveries = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int AS count FROM webhook_dispatcher.deliveries
    WHERE next_attempt_at IS NOT NULL OR lease_until IS NOT NULL`);
  return rows[0]?.count ?? -1;
};

/**
 * Returns the number of commits in the database so far. Waits first, because backends report their
 * commits only after a short idle time.
 */
const countCommits = async (admin: Client): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, statisticsDelayMs));
  const { rows } = await admin.query<{ count: string }>(`
    SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()`);
  return Number(rows[0]?.count);
};

const statisticsDelayMs = 1_500;
