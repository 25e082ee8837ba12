import { Pool } from "pg";
import { createInsertValues, floorInsert, floorSelect } from "./floor-statements.ts";
import {
  type Bench,
  type BenchResult,
  compare,
  median,
  print,
  round,
  takeTurns,
} from "./harness.ts";
import { type LinkServers, poolSize, startLinkServers } from "./link-servers.ts";
import { type Call, connectionCount, createLink, measureRate, measureWorkRate } from "./load.ts";

const roundCount = 9;
const secondsPerRound = 3;
const warmUpSeconds = 10;
const linkCount = 200;
const bareShareMin = 0.3;
const order = { toAmount: "25.5", description: "Order 1001" };

/**
 * Measures the create call, including the API key check, rate limits, and storing the link and its
 * event. The baseline is Express, zod and pg with the same guarantees. It validates the body, finds
 * the key by its hash, stores the link and its event in one statement, and relays the events.
 */
export const benchCreate: Bench = async (onEnd) => {
  const servers = await startLinkServers(onEnd);
  const create: Call = {
    method: "POST",
    path: "/v1/payment-link",
    headers: { "content-type": "application/json", "x-api-key": servers.merchant.apiKey },
    body: JSON.stringify(order),
  };
  const nextStatement = () => ({
    name: "insert",
    text: floorInsert,
    values: createInsertValues(order),
  });
  return compareRates(servers, () => create, nextStatement);
};

/**
 * Measures the retrieve call, including rate limits and the full response. The baseline is a server
 * with a bare query of the same rows.
 */
export const benchRetrieve: Bench = async (onEnd) => {
  const servers = await startLinkServers(onEnd);
  const ids: string[] = [];
  while (ids.length < linkCount) {
    ids.push((await createLink(servers.ours.baseUrl, servers.merchant.apiKey, order)).id);
  }
  let callIndex = 0;
  const nextId = () => ids[(callIndex += 1) % ids.length] ?? "";
  return compareRates(
    servers,
    () => ({ method: "GET", path: `/v1/payment-link/${nextId()}` }),
    () => ({ name: "select", text: floorSelect, values: [nextId()] }),
  );
};

/**
 * Compares the rates of both servers. Also runs the baseline's SQL statement without a server, which
 * shows how fast the baseline itself is.
 */
const compareRates = async (
  { ours, floor, linksUrl }: LinkServers,
  nextCall: () => Call,
  nextStatement: () => { name: string; text: string; values: unknown[] },
): Promise<BenchResult> => {
  // Warms up first, so that JIT compilation is not measured.
  await measureRate(ours.baseUrl, nextCall, warmUpSeconds);
  await measureRate(floor.baseUrl, nextCall, warmUpSeconds);
  const rates = await takeTurns(
    roundCount,
    {
      ours: () => measureRate(ours.baseUrl, nextCall, secondsPerRound),
      floor: () => measureRate(floor.baseUrl, nextCall, secondsPerRound),
    },
    (rate) => `${rate.toFixed(0)}/s`,
  );
  const pool = new Pool({ connectionString: linksUrl, max: poolSize });
  const query = () => pool.query(nextStatement());
  const bareRate = await measureWorkRate(query, secondsPerRound, connectionCount);
  await pool.end();
  const share = median(rates.floor) / bareRate;
  print(`the baseline reaches ${share.toFixed(2)} of a bare SQL loop's rate`);
  if (share < bareShareMin) throw new Error("the baseline is too slow for a comparison");
  return { ...compare(median(rates.ours), median(rates.floor), 0), floorOfBare: round(share) };
};
