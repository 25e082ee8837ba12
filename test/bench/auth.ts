import { Redis } from "ioredis";
import { Client } from "pg";
import { Pool } from "undici";
import { linksApiMigration } from "@payment-links/links-api";
import { mintApiKey, pageSize } from "@payment-links/contracts";
import { startChild, waitListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { openOwnRedis } from "../rig/own-redis.ts";
import { openBenchDatabase } from "./database.ts";
import { floorInsert, insertValues, makeFloorOutbox } from "./floor-statements.ts";
import { type Call, measureRate, median } from "./load.ts";
import { type Verdict, spread } from "./rounds.ts";
import { poolSize } from "./stage.ts";

/** Many short turns: whatever slows the machine for a second slows all servers of a turn. */
const turnCount = 45;
const secondsPerTurn = 0.25;
const turnsPerLine = 9;
const warmUpSeconds = 3;
const countedCalls = 1_000;

const gates = ["redis", "local", "bare", "none"] as const;
type GateName = (typeof gates)[number];

/**
 * What it costs to know the caller and to count the limits: one handler behind the gate, with
 * buckets in Redis and in process, compared with the same handler in the same shell without the
 * gate. `bare` has no gate either, and asks Redis the gate's script by the bare client: no gate with
 * Redis does with less. They are processes that take turns. `ratio` is the one with Redis;
 * `redisCallsPerRequest` is how many calls to Redis a warm request makes.
 */
export const benchAuth = async (): Promise<Verdict> => {
  const redis = await openOwnRedis();
  const client = new Redis(redis.url);
  const database = await openBenchDatabase([linksApiMigration]);
  await makeFloorOutbox(database.adminUrl);
  await insertLinks(database.urlOf("links_api"));
  const ports = await findFreePorts(gates.length);
  const apiKey = mintApiKey("live");
  const children = gates.map((gate, index) =>
    startChild("test/bench/auth-server.ts", {
      GATE: gate,
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
    await Promise.all(children.map(waitListening));
    const call: Call = { method: "GET", path: "/links", headers: { "x-api-key": apiKey } };
    const measure = (gate: GateName, seconds: number) =>
      measureRate(`http://127.0.0.1:${ports[gates.indexOf(gate)]}`, () => call, seconds);
    const rates = await runTurns(measure);
    const callsPerRequest = await countRedisCalls(client, ports[0] ?? 0, call);
    return verdictOf(rates, callsPerRequest);
  } finally {
    await Promise.all(children.map((child) => child.end("SIGTERM")));
    client.disconnect();
    await Promise.all([redis.close(), database.close()]);
  }
};

type Rates = Record<GateName, number[]>;

/** The order changes each turn, so that none of the three always follows the same one. */
const runTurns = async (
  measure: (gate: GateName, seconds: number) => Promise<number>,
): Promise<Rates> => {
  // A warm-up: code is compiled while it runs, and the steady state is what is measured.
  for (const gate of gates) await measure(gate, warmUpSeconds);
  const rates: Rates = { redis: [], local: [], bare: [], none: [] };
  for (let turn = 0; turn < turnCount; turn += 1) {
    for (let place = 0; place < gates.length; place += 1) {
      const gate = gates[(place + turn) % gates.length] ?? "none";
      rates[gate].push(await measure(gate, secondsPerTurn));
    }
    if ((turn + 1) % turnsPerLine === 0) tellTurns(rates, turn + 1);
  }
  return rates;
};

const tellTurns = (rates: Rates, turns: number): void => {
  const last = (gate: GateName) => median(rates[gate].slice(-turnsPerLine)).toFixed(0);
  process.stdout.write(
    `turn ${turns}: with Redis ${last("redis")}/s, in process ${last("local")}/s, ` +
      `Redis by its bare client ${last("bare")}/s, without ${last("none")}/s\n`,
  );
};

/** Rows like those that the create bench writes: one page of them. */
const insertLinks = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let count = 0; count < pageSize; count += 1) {
    await client.query(floorInsert, insertValues({ toAmount: "25.5", description: "Order 1001" }));
  }
  await client.end();
};

const verdictOf = (rates: Rates, redisCallsPerRequest: number): Verdict => {
  for (const gate of gates) process.stdout.write(`spread, ${gate}: ${spread(rates[gate])}\n`);
  const floor = Math.round(median(rates.none));
  const against = (gate: GateName) => {
    // The median of each turn's own ratio: whatever slows the machine for a while does not move it.
    const ratios = rates[gate].map((rate, turn) => rate / (rates.none[turn] ?? Number.NaN));
    const ours = Math.round(median(rates[gate]));
    return { ours, floor, ratio: Number(median(ratios).toFixed(3)) };
  };
  const redis = against("redis");
  return { ...redis, redis, local: against("local"), bare: against("bare"), redisCallsPerRequest };
};

/** How many scripts Redis ran per warm request, by its own count. */
const countRedisCalls = async (client: Redis, port: number, call: Call): Promise<number> => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  const before = await scriptCount(client);
  for (let sent = 0; sent < countedCalls; sent += 1) {
    const { body } = await pool.request(call);
    await body.dump();
  }
  const scripts = (await scriptCount(client)) - before;
  await pool.close();
  // The process also asks once a second whether Redis is well; two digits do not show that.
  return Number((scripts / countedCalls).toFixed(2));
};

/** What scripts call inside Redis is in the same list, but costs no round trip. */
const scriptCount = async (client: Redis): Promise<number> => {
  const told = await client.info("commandstats");
  const counts = [...told.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
};
