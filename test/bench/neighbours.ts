import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Merchant, call, openMerchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { openReceiver } from "../rig/receiver.ts";
import { type RealSystem, openRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { shopEnv, unlimitedEnv } from "../rig/shop-env.ts";
import { type Account, type AccountCall, accountCalls, openAccount } from "./account-calls.ts";
import { say } from "./bench-postgres.ts";
import { openBenchServers } from "./bench-servers.ts";
import { fillLinks } from "./fill-links.ts";
import { median } from "./load.ts";
import type { Verdict } from "./rounds.ts";

const roundCount = Number(process.env["ROUNDS"] ?? 5);
const callsPerRound = Number(process.env["CALLS"] ?? 200);
const warmUpCalls = 100;
/** What the loud account has, and how deep it looks. */
const loudLinkCount = Number(process.env["LINKS"] ?? 1_200_000);
const deepOffset = Math.floor(loudLinkCount / 1.2);
const waitingCount = 10_000;
const quietLinkCount = 10_000;
/** A page ten times a second, and as many links as one key may create by default. */
const loudPerSecond = 10;
const slotsPerEndpoint = 20;
const waitMsMax = 60_000;

/**
 * The p99 of each of an account's calls while another one lists far down ten times a second, creates ten
 * links a second and has 10,000 deliveries waiting at an endpoint that hangs, compared with when it does
 * nothing. `ours` is with, `floor` without, in milliseconds, of the call that suffers most; `ratio`
 * should stay under 1.5.
 */
export const benchNeighbours = async (): Promise<Verdict> => {
  const servers = await openBenchServers();
  const [receiver, hanging] = await Promise.all([openReceiver(), openHanging()]);
  const shop = shopEnv(receiver);
  const system = await openRealSystem({
    replicasPerService: 1,
    env: {
      ...shop,
      WEBHOOK_HOST_OVERRIDES: `${shop.WEBHOOK_HOST_OVERRIDES},hanging.test=http://127.0.0.1:${hanging.port}`,
      WEBHOOK_ENDPOINT_CONCURRENCY: String(slotsPerEndpoint),
      // One address stands for all callers here. The loud account keeps to what its key may do.
      ...unlimitedEnv,
    },
  });
  const admin = new Client({ connectionString: system.adminUrl });
  try {
    await admin.connect();
    const quiet = await openQuiet(system, receiver, admin);
    const loud = await openLoud(system, admin, hanging);
    const lines: Line[] = [];
    for (const one of accountCalls) lines.push(await measure(one, quiet, loud));
    process.stdout.write(tableOf(lines));
    const worst = lines.toSorted((one, other) => other.ratio - one.ratio)[0];
    if (worst === undefined) throw new Error("nothing was measured");
    return worst;
  } finally {
    await admin.end();
    await system.close();
    hanging.close();
    await receiver.close();
    await servers.close();
  }
};

const openQuiet = async (
  system: RealSystem,
  receiver: Awaited<ReturnType<typeof openReceiver>>,
  admin: Client,
): Promise<Account> => {
  const merchant = await openMerchant(system, "quiet");
  const { id: endpointId } = await registerEndpoint(system, merchant, "https://receiver.test/hook");
  const account = openAccount({ receiver, system }, { endpointId, merchant });
  await account.grow(admin, quietLinkCount);
  return account;
};

type Loud = { begin(): Promise<void>; end(): Promise<void> };

/** The account that asks for more than its share. Its webhooks wait, so none comes to the receiver. */
const openLoud = async (
  system: RealSystem,
  admin: Client,
  hanging: Awaited<ReturnType<typeof openHanging>>,
): Promise<Loud> => {
  const merchant = await openMerchant(system, "loud");
  const { id: endpointId } = await registerEndpoint(system, merchant, "https://hanging.test/hook");
  say(`filling ${loudLinkCount.toLocaleString("en")}`);
  const shape = { status: "'active'", expires: "NULL" };
  await fillLinks(admin, { ours: system }, { ...merchant, count: loudLinkCount }, shape);
  await admin.query("VACUUM ANALYZE links_api.links");
  let askers: Promise<void>[] = [];
  let stopping = new AbortController();
  return {
    begin: async () => {
      stopping = new AbortController();
      await queueWaiting(admin, endpointId);
      await waitUntil("it hangs", () => hanging.heldCount() >= slotsPerEndpoint, waitMsMax);
      askers = [`?offset=${deepOffset}`, ""].map((query) =>
        askEvenly(system, merchant, query, stopping.signal),
      );
    },
    end: async () => {
      stopping.abort();
      await Promise.all(askers);
      const ofIt = "FROM webhook_dispatcher.deliveries WHERE endpoint_id = $1";
      await admin.query(`DELETE ${ofIt}`, [endpointId]);
      hanging.release();
      await admin.query("VACUUM ANALYZE webhook_dispatcher.deliveries");
    },
  };
};

let queuedCount = 0;

/** Makes deliveries, all due, as if the endpoint had been hanging for long. */
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

/** Lists at `query`, or creates if there is none, at a fixed rate, whether or not earlier calls have ended. */
const askEvenly = async (
  { baseUrl }: RealSystem,
  { apiKey }: Merchant,
  query: string,
  signal: AbortSignal,
): Promise<void> => {
  const headers = { "x-api-key": apiKey };
  const asked: Promise<unknown>[] = [];
  const ask = () =>
    query === ""
      ? call(`${baseUrl}/v1/payment-link`, { method: "POST", headers, body: { toAmount: "25" } })
      : call(`${baseUrl}/v1/payment-link${query}`, { headers });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => asked.push(ask()), 1_000 / loudPerSecond);
  signal.addEventListener("abort", () => resolve());
  await ended;
  clearInterval(timer);
  await Promise.all(asked);
};

type Line = { call: string; ours: number; floor: number; ratio: number };

/** The medians of rounds with and without, in another order each round. */
const measure = async (one: AccountCall, quiet: Account, loud: Loud): Promise<Line> => {
  const p99s = { ours: [] as number[], floor: [] as number[] };
  const measureOnce = async (times: number): Promise<number> => {
    await one.prepare?.(quiet, times);
    const durations: number[] = [];
    for (let index = 0; index < times; index += 1) {
      const startedAt = performance.now();
      await one.run(quiet);
      durations.push(performance.now() - startedAt);
    }
    return percentile(durations, 0.99);
  };
  await measureOnce(warmUpCalls);
  for (let round = 0; round < roundCount; round += 1) {
    const order = ["floor", "ours"] as const;
    for (const turn of round % 2 === 0 ? order : order.toReversed()) {
      if (turn === "ours") await loud.begin();
      p99s[turn].push(await measureOnce(callsPerRound));
      if (turn === "ours") await loud.end();
    }
  }
  const [ours, floor] = [median(p99s.ours), median(p99s.floor)];
  const show = (list: readonly number[]) => list.map((ms) => ms.toFixed(1)).join(" ");
  process.stdout.write(`${one.name}: with ${show(p99s.ours)}; without ${show(p99s.floor)} ms\n`);
  return {
    call: one.name,
    ours: Number(ours.toFixed(2)),
    floor: Number(floor.toFixed(2)),
    ratio: Number((ours / floor).toFixed(2)),
  };
};

/** A table for people. */
const tableOf = (lines: readonly Line[]): string =>
  [
    "| Call | p99 without, ms | with | Ratio |",
    "| --- | --- | --- | --- |",
    ...lines.map((line) => `| ${line.call} | ${line.floor} | ${line.ours} | ${line.ratio} |`),
    "",
  ].join("\n");

/** A server that never answers. */
const openHanging = async () => {
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
    /** Cuts all that hang. */
    release: () => server.closeAllConnections(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
