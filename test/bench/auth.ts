import { Client } from "pg";
import { generateApiKey, pageSize } from "@payment-links/contracts";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { startOwnRedis } from "../rig/own-redis.ts";
import { startServer } from "./bench-servers.ts";
import { createInsertValues, floorInsert } from "./floor-statements.ts";
import { type Bench, compare, median, round, takeTurns } from "./harness.ts";
import { createLinkDatabase, poolSize } from "./link-servers.ts";
import { type Call, measureRate } from "./load.ts";

/** With many short rounds, a brief slowdown of the machine affects both variants of a round. */
const roundCount = 45;
const secondsPerRound = 0.25;
const warmUpSeconds = 3;

/**
 * Measures the cost of authorizing the caller and applying rate limits with buckets in Redis. The
 * baseline is the same handler without them, in a process of its own. `HANDLER=memory` measures a
 * handler that does almost no work.
 */
export const benchAuth: Bench = async (onEnd) => {
  const redis = await startOwnRedis();
  onEnd(() => redis.close());
  const database = await createLinkDatabase(onEnd);
  const linksUrl = database.getRoleUrl("links_api");
  await insertLinks(linksUrl);
  const apiKey = generateApiKey("live");
  const [oursPort = 0, floorPort = 0] = await findFreePorts(2);
  const env = {
    API_KEY: apiKey,
    REDIS_URL: redis.url,
    LINKS_API_URL: linksUrl,
    CONNECTIONS: String(poolSize),
    HANDLER: process.env["HANDLER"] ?? "",
  };
  await startServer(onEnd, "auth-server.ts", { ...env, GATE: "redis", PORT: String(oursPort) });
  await startServer(onEnd, "auth-server.ts", { ...env, GATE: "none", PORT: String(floorPort) });
  const call: Call = { method: "GET", path: "/links", headers: { "x-api-key": apiKey } };
  const measure = (port: number, seconds: number) =>
    measureRate(`http://127.0.0.1:${port}`, () => call, seconds);
  // Warms up first, so that JIT compilation is not measured.
  for (const port of [oursPort, floorPort]) await measure(port, warmUpSeconds);
  const rates = await takeTurns(
    roundCount,
    {
      ours: () => measure(oursPort, secondsPerRound),
      floor: () => measure(floorPort, secondsPerRound),
    },
    (rate) => `${rate.toFixed(0)}/s`,
  );
  // The median of the ratios per round is robust against temporary slowdowns of the machine.
  const ratios = rates.ours.map((rate, index) => rate / (rates.floor[index] ?? Number.NaN));
  return {
    ...compare(median(rates.ours), median(rates.floor), 0),
    ratio: round(median(ratios), 3),
  };
};

/** Inserts one page of links with the same values as in the create bench. */
const insertLinks = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let count = 0; count < pageSize; count += 1) {
    const values = createInsertValues({ toAmount: "25.5", description: "Order 1001" });
    await client.query(floorInsert, values);
  }
  await client.end();
};
