import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { certificates } from "@payment-links/webhook-dispatcher/testing/certificates";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { createMerchant } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type DispatchBench, type DispatchRun, runDispatch } from "./dispatch-run.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const deliveryCount = 20_000;
const roundCount = 3;
const warmUpCount = 4_000;
const slotsPerEndpoint = 20;

/**
 * The host names of the receivers. The certificates contain the first one. The other is for
 * deliveries without TLS.
 */
const hosts = { tls: "receiver.test", plain: "plain.test" };

/**
 * Compares the deliveries of `bench -- dispatch` over keep-alive TLS connections with the same
 * deliveries without TLS. Both go to one sink in turns. The unit is milliseconds of CPU time per
 * delivery, for the dispatcher and Postgres together. The result is the worse of the ratios with
 * one and with five endpoints.
 */
export const benchDispatchTls = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const folder = await mkdtemp(join(tmpdir(), "payment-links-ca-"));
  const authorityFile = join(folder, "ca.pem");
  await writeFile(authorityFile, certificates.authority);
  const [sinkPort = 0, tlsPort = 0] = await findFreePorts(2);
  const sink = startChild("test/bench/sink-server.ts", {
    PORT: String(sinkPort),
    TLS_PORT: String(tlsPort),
    TLS_KEY: certificates.key,
    TLS_CERT: certificates.good,
  });
  const system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys", "webhook-dispatcher"],
    env: {
      WEBHOOK_SECRET_KEYS: `bench=${Buffer.alloc(32, 7).toString("base64")}`,
      WEBHOOK_HOST_OVERRIDES: [
        `${hosts.plain}=http://127.0.0.1:${sinkPort}`,
        `${hosts.tls}=https://127.0.0.1:${tlsPort}`,
      ].join(),
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // Operators use the same setting to trust a private certificate authority.
      NODE_EXTRA_CA_CERTS: authorityFile,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await waitUntilListening(sink);
    await admin.connect();
    const shapes: BenchResult[] = [];
    for (const endpointCount of [1, 5]) {
      shapes.push(await measureEndpointCount({ system, admin, endpointCount, sinkPort }));
    }
    const worst = shapes.toSorted((a, b) => b.ratio - a.ratio)[0];
    if (worst === undefined) throw new Error("nothing was measured");
    return { ...worst, shapes };
  } finally {
    await admin.end();
    await system.close();
    await sink.terminate("SIGTERM");
    await rm(folder, { recursive: true, force: true });
    await servers.close();
  }
};

const measureEndpointCount = async (
  bench: Omit<DispatchBench, "merchant">,
): Promise<BenchResult> => {
  const { system, endpointCount } = bench;
  const [overTls, plain] = [
    { ...bench, merchant: await createShop(system, hosts.tls, endpointCount) },
    { ...bench, merchant: await createShop(system, hosts.plain, endpointCount) },
  ];
  await runDispatch(overTls, warmUpCount);
  await runDispatch(plain, warmUpCount);
  const runs = { tls: [] as DispatchRun[], plain: [] as DispatchRun[] };
  for (let round = 0; round < roundCount; round += 1) {
    if (round % 2 === 0) runs.tls.push(await runDispatch(overTls, deliveryCount));
    runs.plain.push(await runDispatch(plain, deliveryCount));
    if (round % 2 === 1) runs.tls.push(await runDispatch(overTls, deliveryCount));
    printRound(endpointCount, runs.tls.at(-1), runs.plain.at(-1));
  }
  const [ours, floor] = [median(runs.tls.map(getCpuMs)), median(runs.plain.map(getCpuMs))];
  return {
    endpoints: endpointCount,
    ours: Number(ours.toFixed(3)),
    floor: Number(floor.toFixed(3)),
    ratio: Number((ours / floor).toFixed(3)),
  };
};

const getCpuMs = ({ cpuMs }: DispatchRun): number => cpuMs;

const printRound = (endpoints: number, tls?: DispatchRun, plain?: DispatchRun): void => {
  if (tls === undefined || plain === undefined) return;
  process.stdout.write(
    `${endpoints} endpoints: TLS ${tls.rate.toFixed(0)}/s, ${tls.cpuMs.toFixed(3)} ms CPU; ` +
      `plain ${plain.rate.toFixed(0)}/s, ${plain.cpuMs.toFixed(3)} ms CPU\n`,
  );
};

const createShop = async (system: RealSystem, host: string, endpointCount: number) => {
  const merchant = await createMerchant(system, `${host.split(".", 1)[0]}_${endpointCount}`);
  for (let index = 0; index < endpointCount; index += 1) {
    await registerEndpoint(system, merchant, `https://${host}/hook-${index}`);
  }
  return merchant;
};
