import { Client } from "pg";
import { Pool } from "undici";
import { createMerchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { fillLinks } from "./fill-links.ts";
import { type Call, median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";

const linkCount = Number(process.env["LINKS"] ?? 1_200_000);
const neighborLinkCount = 1_000;
const pagerCount = 20;
const roundCount = 7;
const callsPerRound = 600;
const msPerRoundMax = 8_000;
/**
 * The pause of a pager after a rejected request. Even with this pause, the pagers together send far
 * more requests than the rate limits allow.
 */
const rejectedPauseMs = 100;
/** How long the pagers run before the neighbor is measured. */
const headStartMs = 1_000;

/**
 * Pages near the end of each list: all links, and the links of a status that a third of them have.
 */
const deepPaths = [
  `?offset=${Math.floor(linkCount * 0.9)}`,
  `?status=active&offset=${Math.floor(linkCount * 0.3)}`,
  `?status=inactive&offset=${Math.floor(linkCount * 0.3)}`,
];

/**
 * Measures the p99 of list and create calls of an account while another account continuously
 * requests deep pages. `ours` is the p99 in milliseconds with this load and `floor` the p99 without
 * it. Both are from the call with the worse ratio. `ratio` is the median over the rounds and should
 * stay under 1.5.
 */
export const benchDeepPages = async (setup: BenchSetup): Promise<BenchResult> => {
  const neighbor = await createMerchant(setup.ours, "neighbour");
  const manyLinksAccount = await createMerchant(setup.ours, "many_links");
  await fillAccounts(setup, [
    { ...neighbor, count: neighborLinkCount },
    { ...manyLinksAccount, count: linkCount },
  ]);
  const headers = { "x-api-key": neighbor.apiKey };
  const calls: Record<string, Call> = {
    list: { method: "GET", path: "/v1/payment-link", headers },
    create: {
      method: "POST",
      path: "/v1/payment-link",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ toAmount: "25.5" }),
    },
  };
  const results: BenchResult[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const times = { ours: [] as number[], floor: [] as number[], ratios: [] as number[] };
    const responseCounts: Record<string, number> = {};
    await measureP99Ms(setup, call);
    for (let round = 0; round < roundCount; round += 1) {
      const floor = await measureP99Ms(setup, call);
      const pagers = startPagers(setup, manyLinksAccount.apiKey, responseCounts);
      await new Promise((resolve) => setTimeout(resolve, headStartMs));
      const ours = await measureP99Ms(setup, call);
      await pagers.stop();
      times.floor.push(floor);
      times.ours.push(ours);
      times.ratios.push(ours / floor);
    }
    const { ours, floor, ratios } = times;
    const result = { ours: median(ours), floor: median(floor), ratio: median(ratios) };
    process.stdout.write(
      `${name}: ratio ${result.ratio.toFixed(2)} (with: ${formatTimes(ours)} ms; without: ` +
        `${formatTimes(floor)} ms); responses of deep pages ${JSON.stringify(responseCounts)}\n`,
    );
    results.push({ ...result, call: name });
  }
  const worst = results.toSorted((a, b) => b.ratio - a.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};

const formatTimes = (timesMs: readonly number[]): string =>
  timesMs.map((ms) => ms.toFixed(1)).join(" ");

const fillAccounts = async (
  setup: BenchSetup,
  accounts: readonly { apiKey: string; userId: string; count: number }[],
): Promise<void> => {
  const admin = new Client({ connectionString: setup.adminUrl });
  await admin.connect();
  const status = "(ARRAY['active','completed','inactive'])[1 + n % 3]";
  for (const account of accounts)
    await fillLinks(admin, setup, account, { status, expires: "NULL" });
  await admin.query("VACUUM ANALYZE links_api.links");
  await admin.end();
};

/**
 * Returns the 99th percentile of sequential calls, in milliseconds. Includes the durations of
 * failed calls.
 */
const measureP99Ms = async (setup: BenchSetup, call: Call): Promise<number> => {
  const pool = new Pool(setup.ours.baseUrl, { connections: 1 });
  const durations: number[] = [];
  const endsAt = performance.now() + msPerRoundMax;
  while (durations.length < callsPerRound && performance.now() < endsAt) {
    const startedAt = performance.now();
    const { body } = await pool.request(call);
    await body.dump();
    durations.push(performance.now() - startedAt);
  }
  await pool.close();
  return percentile(durations, 0.99);
};

/**
 * Starts many connections that request deep pages of one account. Each sends its next request
 * immediately after a response.
 */
const startPagers = (setup: BenchSetup, apiKey: string, responseCounts: Record<string, number>) => {
  const pool = new Pool(setup.ours.baseUrl, { connections: pagerCount, pipelining: 1 });
  const stopping = new AbortController();
  const requestPages = async (pagerIndex: number): Promise<void> => {
    for (let requestIndex = pagerIndex; !stopping.signal.aborted; requestIndex += 1) {
      const path = `/v1/payment-link${deepPaths[requestIndex % deepPaths.length] ?? ""}`;
      const headers = { "x-api-key": apiKey };
      const { statusCode, body } = await pool.request({ method: "GET", path, headers });
      await body.dump();
      responseCounts[statusCode] = (responseCounts[statusCode] ?? 0) + 1;
      if (statusCode !== 200) await new Promise((resolve) => setTimeout(resolve, rejectedPauseMs));
    }
  };
  const running = Promise.all(
    Array.from({ length: pagerCount }, (_, pagerIndex) => requestPages(pagerIndex)),
  );
  return {
    stop: async () => {
      stopping.abort();
      await running;
      await pool.close();
    },
  };
};
