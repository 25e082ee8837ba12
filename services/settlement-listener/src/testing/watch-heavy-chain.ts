import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "slonik";
import * as z from "zod";
import { ensureTopics, prefixTopics } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import { type PaymentLinkState, topicSettings } from "@payment-links/contracts";
import { type Pool, transact } from "@payment-links/postgres";
import { createTestContext } from "@payment-links/process/testing";
import { claimRedisDatabase } from "@payment-links/rate-limit/testing/claim-redis-database";
import { type Log, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { stopChild, isRunning } from "@payment-links/runtime/testing/stop-child";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { settlementListenerMigration } from "../service.ts";
import { receiveLink } from "./receive-link.ts";
import { chartHeapMib } from "./run-heavy-chain.ts";

const program = fileURLToPath(new URL("../main.ts", import.meta.url));
const measureHeapUrl = new URL("./measure-heap.ts", import.meta.url);

/** More time than the watch of a heavy chain needs on a busy machine. */
const watchMsMax = 1_500_000;
const printEveryMs = 10_000;
const outputCharactersMax = 20_000;

/**
 * Runs settlement-listener's own program with the chart's heap limit. Waits until the program has
 * settled a link's payment and its checkpoint is past a block. Prints the checkpoint and the peak
 * heap every 10 s and at the end. If the program exits early, rejects with its last output.
 */
export const watchHeavyChain = async (
  url: string,
  { chainId, link, pastBlock }: { chainId: string; link: PaymentLinkState; pastBlock: number },
): Promise<Progress> => {
  const { close, context, pool } = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  const { databaseUrl, log } = context;
  const state: { listener?: Listener; progress?: Progress } = {};
  const startedAtMs = performance.now();
  const print = () => {
    const { listener, progress } = state;
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const peakMb = Math.round((listener?.peakBytes() ?? 0) / 1e6);
    process.stdout.write(`${seconds} s, peak heap ${peakMb} MB: ${JSON.stringify(progress)}\n`);
  };
  const printTimer = setInterval(print, printEveryMs);
  try {
    await transact(pool, (tx) => receiveLink(systemClock)(tx, { link }));
    const listener = await startListener({ url, chainId, databaseUrl, log });
    state.listener = listener;
    return await waitUntil(
      () => `the payment settles, and the checkpoint passes ${pastBlock}: ${listener.output()}`,
      async () => {
        if (!listener.isRunning()) {
          throw new Error(`settlement-listener exited early: ${listener.output()}`);
        }
        const progress = await readProgress(pool, { ...listener, linkId: link.id });
        state.progress = progress;
        const isSettled = progress.payments.some(({ status }) => status === "settled");
        return isSettled && (progress.scannedTo ?? 0) > pastBlock && progress;
      },
      watchMsMax,
    );
  } finally {
    clearInterval(printTimer);
    print();
    await state.listener?.end();
    await close();
  }
};

type Listener = Awaited<ReturnType<typeof startListener>>;

/**
 * Starts the program with its own topics, Redis database and ports. Does not wait until it is
 * ready.
 */
const startListener = async ({
  url,
  chainId,
  databaseUrl,
  log,
}: {
  url: string;
  chainId: string;
  databaseUrl: string;
  log: Log;
}) => {
  const brokers = getTestBrokers();
  const topicPrefix = `t${randomBytes(5).toString("hex")}.`;
  const topics = prefixTopics(topicSettings, topicPrefix);
  await ensureTopics({ brokers, clientId: "tests", log, replicationFactor: 1, topics });
  // Each step reads only a part of the data, so the test would take longer with the usual poll
  // interval.
  const chainsFile = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "chains.json");
  writeFileSync(chainsFile, JSON.stringify({ [chainId]: { pollMs: 50 } }));
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const args = [
    `--max-old-space-size=${chartHeapMib}`,
    "--disable-warning=ExperimentalWarning",
    `--import=${measureHeapUrl.href}`,
    program,
  ];
  const env = {
    ...getInheritedEnv(),
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: brokers.join(","),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    REDIS_URL: await claimRedisDatabase(),
    // The README requires two providers. They must agree before a payment settles.
    RPC_URLS: [`${url}/1`, `${url}/2`].map((providerUrl) => `${chainId}=${providerUrl}`).join(","),
    INDEPENDENT_RPC_HOSTS: "127.0.0.1",
    CHAINS_FILE: chainsFile,
    PORT: `${port}`,
    INTERNAL_PORT: `${internalPort}`,
  };
  const stdio = ["ignore", "pipe", "pipe", "ipc"] as const;
  const child = spawn(process.execPath, args, { env, stdio: [...stdio] });
  let peakBytes = 0;
  let output = "";
  child.on("message", (bytes) => (peakBytes = Number(bytes)));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-outputCharactersMax);
    });
  }
  return {
    internalUrl: `http://127.0.0.1:${internalPort}`,
    peakBytes: () => peakBytes,
    output: () => output,
    isRunning: () => isRunning(child),
    end: () => stopChild(child),
  };
};

const StatusResponse = z.object({
  chains: z.tuple([
    z.object({ head: z.int().nullable(), scannedTo: z.int().nullable(), state: z.string() }),
  ]),
});
const PaymentRow = z.object({ status: z.string(), amount: z.string() });
const CountRow = z.object({ count: z.int() });

type Progress = Awaited<ReturnType<typeof readProgress>>;

const readProgress = async (
  pool: Pool,
  { internalUrl, linkId }: Pick<Listener, "internalUrl"> & { linkId: string },
) => {
  const payments = await pool.any(sql.type(PaymentRow)`
    SELECT status, amount FROM payments WHERE payment_link_id = ${linkId}
  `);
  const transferCount = await pool.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM chain_transfers
  `);
  return { ...(await readStatus(internalUrl)), payments, transferCount };
};

const readStatus = async (internalUrl: string) => {
  const response = await fetch(`${internalUrl}/internal/settlement/status`).catch(() => undefined);
  if (response?.status !== 200) return { head: null, scannedTo: null, state: "not ready" };
  return StatusResponse.parse(await response.json()).chains[0];
};
