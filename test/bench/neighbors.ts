import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Merchant, call, createMerchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { startReceiver } from "../rig/receiver.ts";
import { type RealSystem, startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import {
  type AccountClient,
  type AccountCall,
  accountCalls,
  createAccountClient,
} from "./account-calls.ts";
import { printProgress } from "./bench-postgres.ts";
import { startBenchServers } from "./bench-servers.ts";
import { fillLinks } from "./fill-links.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const roundCount = Number(process.env["ROUNDS"] ?? 5);
const callsPerRound = Number(process.env["CALLS"] ?? 200);
const warmUpCalls = 100;
/** The number of links of the noisy account, and the offset at which it lists them. */
const loudLinkCount = Number(process.env["LINKS"] ?? 1_200_000);
const deepOffset = Math.floor(loudLinkCount / 1.2);
const waitingCount = 10_000;
const quietLinkCount = 10_000;
/**
 * The number of pages per second, and of links created per second. One key is allowed to create
 * this many by default.
 */
const loudPerSecond = 10;
const slotsPerEndpoint = 20;
const waitMsMax = 60_000;

/**
 * Measures the p99 of each call of an account while another account is busy, and compares it with
 * the p99 while the other account is idle. The busy account lists at a high offset ten times per
 * second, creates ten links per second and has 10,000 deliveries pending for an endpoint that
 * hangs. `ours` is the p99 in milliseconds with this load and `floor` the p99 without it. Both are
 * from the call with the worst ratio. `ratio` should stay under 1.5.
 */
export const benchNeighbors = async (): Promise<BenchResult> => {
  const servers = await startBenchServers();
  const [receiver, hanging] = await Promise.all([startReceiver(), startHangingServer()]);
  const shop = buildShopEnv(receiver);
  const system = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...shop,
      WEBHOOK_HOST_OVERRIDES: `${shop.WEBHOOK_HOST_OVERRIDES},hanging.test=http://127.0.0.1:${hanging.port}`,
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // All callers share one address here, so the rate limits are disabled. The noisy account
      // stays within the default limits of its key.
      ...unlimitedEnv,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const quiet = await createQuietAccount(system, receiver, admin);
    const loud = await createLoudAccount(system, admin, hanging);
    const results: CallResult[] = [];
    for (const accountCall of accountCalls)
      results.push(await measureCall(accountCall, quiet, loud));
    process.stdout.write(renderTable(results));
    const worst = results.toSorted((first, second) => second.ratio - first.ratio)[0];
    if (worst === undefined) throw new Error("no measurements");
    return worst;
  } finally {
    await admin.end();
    await system.close();
    hanging.close();
    await receiver.close();
    await servers.close();
  }
};

const createQuietAccount = async (
  system: RealSystem,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  admin: Client,
): Promise<AccountClient> => {
  const merchant = await createMerchant(system, "quiet");
  const { id: endpointId } = await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const account = createAccountClient({ receiver, system }, { endpointId, merchant });
  await account.multiplyLinks(admin, quietLinkCount);
  return account;
};

type LoudAccount = { start(): Promise<void>; stop(): Promise<void> };

/** Creates the noisy account. Its webhooks stay pending, so the receiver does not get them. */
const createLoudAccount = async (
  system: RealSystem,
  admin: Client,
  hanging: Awaited<ReturnType<typeof startHangingServer>>,
): Promise<LoudAccount> => {
  const merchant = await createMerchant(system, "loud");
  const { id: endpointId } = await registerEndpoint(system, merchant, "https://hanging.test/hook");
  printProgress(`filling ${loudLinkCount.toLocaleString("en")}`);
  const shape = { status: "'active'", expires: "NULL" };
  await fillLinks(admin, { ours: system }, { ...merchant, count: loudLinkCount }, shape);
  await admin.query("VACUUM ANALYZE links_api.links");
  let running: Promise<void>[] = [];
  let stopController = new AbortController();
  return {
    start: async () => {
      stopController = new AbortController();
      await queueWaiting(admin, endpointId);
      await waitUntil(
        "the receivers hang",
        () => hanging.heldCount() >= slotsPerEndpoint,
        waitMsMax,
      );
      running = [`?offset=${deepOffset}`, ""].map((query) =>
        sendEvenly(system, merchant, query, stopController.signal),
      );
    },
    stop: async () => {
      stopController.abort();
      await Promise.all(running);
      const fromEndpoint = "FROM webhook_dispatcher.deliveries WHERE endpoint_id = $1";
      await admin.query(`DELETE ${fromEndpoint}`, [endpointId]);
      hanging.release();
      await admin.query("VACUUM ANALYZE webhook_dispatcher.deliveries");
    },
  };
};

let queuedCount = 0;

/** Inserts deliveries that are all due, as if the endpoint had been hanging for a long time. */
const queueWaiting = async (admin: Client, endpointId: string): Promise<void> => {
  await admin.query(
    `INSERT INTO webhook_dispatcher.deliveries
       (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created, next_attempt_at)
     SELECT 'evt_waiting' || n, 'waiting' || n, $1, links.id, 'payment_link.completed', now(), now(),
            now() - interval '1 hour'
     FROM generate_series($2::int, $3::int) AS n,
       (SELECT id FROM webhook_dispatcher.links LIMIT 1) AS links`,
    [endpointId, queuedCount + 1, queuedCount + waitingCount],
  );
  queuedCount += waitingCount;
};

/**
 * Lists links with `query` at a fixed rate, or creates links if `query` is empty. Does not wait for
 * earlier calls to end.
 */
const sendEvenly = async (
  { baseUrl }: RealSystem,
  { apiKey }: Merchant,
  query: string,
  signal: AbortSignal,
): Promise<void> => {
  const headers = { "x-api-key": apiKey };
  const requests: Promise<unknown>[] = [];
  const sendRequest = () =>
    query === ""
      ? call(`${baseUrl}/v1/payment-link`, { method: "POST", headers, body: { toAmount: "25" } })
      : call(`${baseUrl}/v1/payment-link${query}`, { headers });
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => requests.push(sendRequest()), 1_000 / loudPerSecond);
  signal.addEventListener("abort", () => resolve());
  await stopped;
  clearInterval(timer);
  await Promise.all(requests);
};

type CallResult = { call: string; ours: number; floor: number; ratio: number };

/**
 * Measures rounds with and without the load, in an order that changes in each round. Returns their
 * medians.
 */
const measureCall = async (
  accountCall: AccountCall,
  quiet: AccountClient,
  loud: LoudAccount,
): Promise<CallResult> => {
  const p99s = { ours: [] as number[], floor: [] as number[] };
  const measureOnce = async (callCount: number): Promise<number> => {
    await accountCall.prepare?.(quiet, callCount);
    const durations: number[] = [];
    for (let index = 0; index < callCount; index += 1) {
      const startedAt = performance.now();
      await accountCall.run(quiet);
      durations.push(performance.now() - startedAt);
    }
    return percentile(durations, 0.99);
  };
  await measureOnce(warmUpCalls);
  for (let round = 0; round < roundCount; round += 1) {
    const order = ["floor", "ours"] as const;
    for (const kind of round % 2 === 0 ? order : order.toReversed()) {
      if (kind === "ours") await loud.start();
      p99s[kind].push(await measureOnce(callsPerRound));
      if (kind === "ours") await loud.stop();
    }
  }
  const [ours, floor] = [median(p99s.ours), median(p99s.floor)];
  const formatTimes = (timesMs: readonly number[]) => timesMs.map((ms) => ms.toFixed(1)).join(" ");
  process.stdout.write(
    `${accountCall.name}: with ${formatTimes(p99s.ours)}; without ${formatTimes(p99s.floor)} ms\n`,
  );
  return {
    call: accountCall.name,
    ours: Number(ours.toFixed(2)),
    floor: Number(floor.toFixed(2)),
    ratio: Number((ours / floor).toFixed(2)),
  };
};

/** Renders the results as a Markdown table. */
const renderTable = (lines: readonly CallResult[]): string =>
  [
    "| Call | p99 without, ms | with | Ratio |",
    "| --- | --- | --- | --- |",
    ...lines.map((line) => `| ${line.call} | ${line.floor} | ${line.ours} | ${line.ratio} |`),
    "",
  ].join("\n");

/** Starts a server that never responds. */
const startHangingServer = async () => {
  let heldCount = 0;
  const server = createServer((req, res) => {
    heldCount += 1;
    res.once("close", () => (heldCount -= 1));
    req.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heldCount: () => heldCount,
    /** Closes all hanging connections. */
    release: () => server.closeAllConnections(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
