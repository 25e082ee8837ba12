import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { request } from "undici";
import { waitUntil } from "@payment-links/runtime/testing";
import { certificates } from "@payment-links/webhook-dispatcher/testing/certificates";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { createMerchant } from "../rig/client.ts";
import { connectLinkPublisher, createCompletedLinkRecord } from "../rig/completed-links.ts";
import { startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { sealingKeyEntry } from "../rig/shop-env.ts";
import { startBenchServers, startServer } from "./bench-servers.ts";
import type { OnEnd } from "./harness.ts";
import { findPostgresPid, readCpuMs, readCpuMsOfTree } from "./process-cpu.ts";

/** The deliveries per second, and the CPU time of each delivery in the dispatcher and Postgres. */
export type DispatchRun = { rate: number; cpuMs: number };

/** The number of concurrent attempts. */
export const slotsPerEndpoint = 20;

/** The time limit of one run. */
export const runMsMax = 120_000;

/** The description of each link. It makes the webhook 1 KiB long. */
const description = "x".repeat(600);

/** The host names of the sink. The certificates contain the first one. */
const hosts = { tls: "receiver.test", plain: "plain.test" };

export type Dispatcher = Awaited<ReturnType<typeof startDispatcher>>;

/** Starts a dispatcher, and a sink that receives all webhooks with and without TLS. */
export const startDispatcher = async (onEnd: OnEnd) => {
  const servers = await startBenchServers();
  onEnd(servers.close);
  const [sinkPort = 0, tlsPort = 0] = await findFreePorts(2);
  await startServer(onEnd, "sink-server.ts", {
    PORT: String(sinkPort),
    TLS_PORT: String(tlsPort),
    TLS_KEY: certificates.key,
    TLS_CERT: certificates.good,
  });
  const folder = await mkdtemp(join(tmpdir(), "payment-links-ca-"));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const authorityFile = join(folder, "ca.pem");
  await writeFile(authorityFile, certificates.authority);
  const system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: {
      WEBHOOK_SECRET_KEYS: sealingKeyEntry,
      WEBHOOK_HOST_OVERRIDES: [
        `${hosts.plain}=http://127.0.0.1:${sinkPort}`,
        `${hosts.tls}=https://127.0.0.1:${tlsPort}`,
      ].join(),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // Operators use the same setting to trust a private certificate authority.
      NODE_EXTRA_CA_CERTS: authorityFile,
    },
  });
  onEnd(() => system.close());
  const admin = new Client({ connectionString: system.adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  const replica = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  if (replica === undefined) throw new Error("the dispatcher is missing");
  const postgresPid = await findPostgresPid(admin);
  return { admin, pid: replica.pid(), postgresPid, sinkPort, system };
};

/**
 * Creates an account with endpoints at the sink. The returned function sends the given number of
 * deliveries to them. It measures from the records in Kafka until every 2xx is recorded.
 */
export const createDispatchAccount = async (
  { admin, pid, postgresPid, sinkPort, system }: Dispatcher,
  { endpointCount, via }: { endpointCount: number; via: keyof typeof hosts },
) => {
  const merchant = await createMerchant(system, `${via}_${endpointCount}`);
  for (let index = 0; index < endpointCount; index += 1) {
    await registerEndpoint(system, merchant, `https://${hosts[via]}/hook-${index}`);
  }
  const readUsedMs = () => readCpuMs(pid) + readCpuMsOfTree(postgresPid);
  return async (deliveryCount: number): Promise<DispatchRun> => {
    const links = Array.from({ length: deliveryCount / endpointCount }, () =>
      createCompletedLinkRecord(merchant.userId, description),
    );
    const receivedBefore = await countReceived(sinkPort);
    // The dispatcher is stopped while the records are written to Kafka, and the measurement starts
    // afterwards. The baseline also prepares its bodies before it starts.
    process.kill(pid, "SIGSTOP");
    const publisher = await connectLinkPublisher(system.topicPrefix);
    await publisher.publish(links);
    await publisher.close();
    const [cpuMsBefore, startedAt] = [readUsedMs(), performance.now()];
    process.kill(pid, "SIGCONT");
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
    return {
      rate: deliveryCount / ((performance.now() - startedAt) / 1_000),
      cpuMs: (readUsedMs() - cpuMsBefore) / deliveryCount,
    };
  };
};

const countReceived = async (port: number): Promise<number> =>
  Number(await (await request(`http://127.0.0.1:${port}/count`)).body.text());

const countPendingDeliveries = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int AS count FROM webhook_dispatcher.deliveries
    WHERE next_attempt_at IS NOT NULL OR lease_until IS NOT NULL`);
  return rows[0]?.count ?? -1;
};
