import { Client } from "pg";
import { Pool } from "undici";
import { type Merchant, createMerchant } from "../rig/client.ts";
import { percentile } from "../rig/percentile.ts";
import { copyRow } from "./copy-links.ts";
import { type Bench, compare, findWorst, median, print, round, takeTurns } from "./harness.ts";
import { startLinkServers } from "./link-servers.ts";
import { type Call, createLink, runWorkers } from "./load.ts";

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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Measures the p99 of list and create calls of an account while another account continuously
 * requests deep pages. `ours` is the p99 in milliseconds with this load and `floor` the p99 without
 * it. Both are from the call with the worse ratio. `ratio` is the median over the rounds and should
 * stay under 1.5.
 */
export const benchDeepPages: Bench = async (onEnd) => {
  const { adminUrl, ours } = await startLinkServers(onEnd);
  const neighbor = await createMerchant(ours, "neighbour");
  const manyLinksAccount = await createMerchant(ours, "many_links");
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  await fillLinks(admin, ours.baseUrl, neighbor, neighborLinkCount);
  await fillLinks(admin, ours.baseUrl, manyLinksAccount, linkCount);
  await admin.query("VACUUM ANALYZE links_api.links");
  const headers = { "x-api-key": neighbor.apiKey, "content-type": "application/json" };
  const path = "/v1/payment-link";
  const calls: Record<string, Call> = {
    list: { method: "GET", path, headers },
    create: { method: "POST", path, headers, body: JSON.stringify({ toAmount: "25.5" }) },
  };
  const results = [];
  for (const [name, call] of Object.entries(calls)) {
    const responseCounts: Record<string, number> = {};
    const measure = () => measureP99Ms(ours.baseUrl, call);
    await measure();
    const times = await takeTurns(
      roundCount,
      {
        floor: measure,
        ours: async () => {
          const stop = startPagers(ours.baseUrl, manyLinksAccount.apiKey, responseCounts);
          await pause(headStartMs);
          return measure().finally(stop);
        },
      },
      (ms) => `${ms.toFixed(1)} ms`,
    );
    print(`${name}: responses of deep pages ${JSON.stringify(responseCounts)}`);
    const ratios = times.ours.map((ms, index) => ms / (times.floor[index] ?? Number.NaN));
    const medians = compare(median(times.ours), median(times.floor));
    results.push({ ...medians, ratio: round(median(ratios), 3), call: name });
  }
  return findWorst(results);
};

/** Inserts copies of a link that was created through the API, with each status in turn. */
const fillLinks = async (
  admin: Client,
  baseUrl: string,
  { apiKey }: Merchant,
  count: number,
): Promise<void> => {
  const { id } = await createLink(baseUrl, apiKey, { toAmount: "25.5" });
  const overrides = {
    id: "'plink_' || right(user_id, 12) || lpad(n::text, 12, '0')",
    status: "(ARRAY['active', 'completed', 'inactive'])[1 + n % 3]",
    created_at: "created_at - n * interval '1 second'",
    payment_reference: "md5(id || n)",
  };
  await copyRow(admin, "links_api.links", { id, where: "id = $1", overrides }, count);
};

/**
 * Returns the 99th percentile of sequential calls, in milliseconds. Includes the durations of
 * failed calls.
 */
const measureP99Ms = async (baseUrl: string, call: Call): Promise<number> => {
  const pool = new Pool(baseUrl, { connections: 1 });
  const durations: number[] = [];
  const endsAt = performance.now() + msPerRoundMax;
  while (durations.length < callsPerRound && performance.now() < endsAt) {
    const startedAt = performance.now();
    await (await pool.request(call)).body.dump();
    durations.push(performance.now() - startedAt);
  }
  await pool.close();
  return percentile(durations, 0.99);
};

/**
 * Starts many connections that request deep pages of one account. Each sends its next request
 * immediately after a response. Returns a function that stops them.
 */
const startPagers = (
  baseUrl: string,
  apiKey: string,
  responseCounts: Record<string, number>,
): (() => Promise<void>) => {
  const pool = new Pool(baseUrl, { connections: pagerCount, pipelining: 1 });
  let [isStopped, requestCount] = [false, 0];
  const requestPage = async (): Promise<void> => {
    requestCount += 1;
    const path = `/v1/payment-link${deepPaths[requestCount % deepPaths.length] ?? ""}`;
    const headers = { "x-api-key": apiKey };
    const { statusCode, body } = await pool.request({ method: "GET", path, headers });
    await body.dump();
    responseCounts[statusCode] = (responseCounts[statusCode] ?? 0) + 1;
    if (statusCode !== 200) await pause(rejectedPauseMs);
  };
  const running = runWorkers(pagerCount, () => !isStopped && requestPage());
  return async () => {
    isStopped = true;
    await running;
    await pool.close();
  };
};
