import { Redis } from "ioredis";
import { Client } from "pg";
import { Pool } from "undici";
import { linksApiMigration } from "@payment-links/links-api";
import { generateApiKey, pageSize } from "@payment-links/contracts";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { startOwnRedis } from "../rig/own-redis.ts";
import { createBenchDatabase } from "./database.ts";
import { floorInsert, createInsertValues, createFloorOutbox } from "./floor-statements.ts";
import { type Call, measureRate, median } from "./load.ts";
import { type BenchResult, formatSpread } from "./rounds.ts";
import { poolSize } from "./bench-setup.ts";

/** With many short rounds, a brief slowdown of the machine affects all variants of a round. */
const roundCount = 45;
const secondsPerRound = 0.25;
const roundsPerLine = 9;
const warmUpSeconds = 3;
const countedCallCount = 1_000;

const variants = ["redis", "local", "bare", "none"] as const;
type VariantName = (typeof variants)[number];

/**
 * Measures the cost of authorizing the caller and applying rate limits. Compares a handler that
 * does both, with buckets in Redis (`redis`) or in the process (`local`), with the same handler
 * without them (`none`). `bare` also skips authorization. It runs the limiter's Redis script
 * through the bare client, which is the minimum for any limiter in Redis. Each variant is a
 * process, and the variants are measured in turns. `ratio` is the result of `redis`.
 * `redisCallsPerRequest` is the number of Redis calls per request with a cached key.
 */
export const benchAuth = async (): Promise<BenchResult> => {
  const redis = await startOwnRedis();
  const client = new Redis(redis.url);
  const database = await createBenchDatabase([linksApiMigration]);
  await createFloorOutbox(database.adminUrl);
  await insertLinks(database.urlOf("links_api"));
  const ports = await findFreePorts(variants.length);
  const apiKey = generateApiKey("live");
  const children = variants.map((variant, index) =>
    startChild("test/bench/auth-server.ts", {
      GATE: variant,
      PORT: String(ports[index]),
      API_KEY: apiKey,
      REDIS_URL: redis.url,
      LINKS_API_URL: database.urlOf("links_api"),
      CONNECTIONS: String(poolSize),
      HANDLER: process.env["HANDLER"] ?? "",
      NODE_ENV: "production",
    }),
  );
  try {
    await Promise.all(children.map(waitUntilListening));
    const call: Call = { method: "GET", path: "/links", headers: { "x-api-key": apiKey } };
    const measure = (variant: VariantName, seconds: number) =>
      measureRate(`http://127.0.0.1:${ports[variants.indexOf(variant)]}`, () => call, seconds);
    const rates = await runRounds(measure);
    const callsPerRequest = await countRedisCalls(client, ports[0] ?? 0, call);
    return summarize(rates, callsPerRequest);
  } finally {
    await Promise.all(children.map((child) => child.terminate("SIGTERM")));
    client.disconnect();
    await Promise.all([redis.close(), database.close()]);
  }
};

type Rates = Record<VariantName, number[]>;

/** Runs the rounds. The order changes in each round, so no variant always follows the same one. */
const runRounds = async (
  measure: (variant: VariantName, seconds: number) => Promise<number>,
): Promise<Rates> => {
  // Warms up first, so that JIT compilation is not measured.
  for (const variant of variants) await measure(variant, warmUpSeconds);
  const rates: Rates = { redis: [], local: [], bare: [], none: [] };
  for (let round = 0; round < roundCount; round += 1) {
    for (let position = 0; position < variants.length; position += 1) {
      const variant = variants[(position + round) % variants.length] ?? "none";
      rates[variant].push(await measure(variant, secondsPerRound));
    }
    if ((round + 1) % roundsPerLine === 0) printRounds(rates, round + 1);
  }
  return rates;
};

const printRounds = (rates: Rates, completedRounds: number): void => {
  const lastMedian = (variant: VariantName) =>
    median(rates[variant].slice(-roundsPerLine)).toFixed(0);
  process.stdout.write(
    `turn ${completedRounds}: with Redis ${lastMedian("redis")}/s, in process ${lastMedian("local")}/s, ` +
      `Redis through a bare client ${lastMedian("bare")}/s, without ${lastMedian("none")}/s\n`,
  );
};

/** Inserts one page of links with the same values as in the create bench. */
const insertLinks = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let count = 0; count < pageSize; count += 1) {
    await client.query(
      floorInsert,
      createInsertValues({ toAmount: "25.5", description: "Order 1001" }),
    );
  }
  await client.end();
};

const summarize = (rates: Rates, redisCallsPerRequest: number): BenchResult => {
  for (const variant of variants)
    process.stdout.write(`spread, ${variant}: ${formatSpread(rates[variant])}\n`);
  const floor = Math.round(median(rates.none));
  const compareToFloor = (variant: VariantName) => {
    // The median of the ratios per round is robust against temporary slowdowns of the machine.
    const ratios = rates[variant].map((rate, round) => rate / (rates.none[round] ?? Number.NaN));
    const ours = Math.round(median(rates[variant]));
    return { ours, floor, ratio: Number(median(ratios).toFixed(3)) };
  };
  const redis = compareToFloor("redis");
  return {
    ...redis,
    redis,
    local: compareToFloor("local"),
    bare: compareToFloor("bare"),
    redisCallsPerRequest,
  };
};

/**
 * Returns the number of scripts that Redis ran per request with a cached key, from Redis's own
 * statistics.
 */
const countRedisCalls = async (client: Redis, port: number, call: Call): Promise<number> => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  const scriptsBefore = await countScripts(client);
  for (let sentCount = 0; sentCount < countedCallCount; sentCount += 1) {
    const { body } = await pool.request(call);
    await body.dump();
  }
  const scriptCountDelta = (await countScripts(client)) - scriptsBefore;
  await pool.close();
  // The process also checks the health of Redis once per second. Rounding to two digits removes
  // these calls from the result.
  return Number((scriptCountDelta / countedCallCount).toFixed(2));
};

/**
 * Returns the number of scripts that Redis ran. The list also contains the commands inside scripts,
 * which cost no round trip.
 */
const countScripts = async (client: Redis): Promise<number> => {
  const commandStats = await client.info("commandstats");
  const counts = [...commandStats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
};
