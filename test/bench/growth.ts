import { writeFile } from "node:fs/promises";
import { call } from "../rig/client.ts";
import { startBenchServers } from "./bench-servers.ts";
import { printProgress } from "./bench-postgres.ts";
import { type Line, drawGrowth } from "./charts.ts";
import { copyLink } from "./copy-links.ts";
import { type Bench, type OnEnd, compare, findWorst, median, print, takeTurns } from "./harness.ts";
import { createLink } from "./load.ts";
import { pay, startShop } from "./payments.ts";

/** The number of links in each compared system. Each link has a payment and a webhook. */
const counts = (process.env["SIZES"] ?? "10000,100000,1000000").split(",").map(Number);
const roundCount = Number(process.env["ROUNDS"] ?? 5);
const timesPerRound = 20;
const warmUpRounds = 2;

/**
 * Measures the time of each public call and of a payment. Compares systems with 10,000, 100,000 and
 * 1 million links (`SIZES`). Each link has a payment and a webhook. The systems run in parallel on
 * one Postgres and are called in `ROUNDS` (5) turns. `ours` and `floor` are the milliseconds of the
 * operation that grows most, with the most and the fewest links. `ratio` should stay under 1.5.
 * `PICTURE` is the path of a chart to write.
 */
export const benchGrowth: Bench = async (onEnd) => {
  const servers = await startBenchServers({ max_connections: "400" });
  onEnd(servers.close);
  const systems: FilledSystem[] = [];
  for (const count of counts) systems.push(await createFilledSystem(onEnd, count));
  const lines: Line[] = [];
  for (const operation of operations) {
    print(operation.name);
    const variants = Object.fromEntries(
      systems.map((system) => [
        `${system.count.toLocaleString("en")} links`,
        () => measureMedianMs(operation, system),
      ]),
    );
    const format = (ms: number) => `${ms.toFixed(1)} ms`;
    await takeTurns(warmUpRounds, variants, format);
    const rounds = Object.values(await takeTurns(roundCount, variants, format));
    lines.push({ name: operation.name, values: rounds.map(median) });
  }
  const file = process.env["PICTURE"];
  if (file !== undefined) {
    await writeFile(file, drawGrowth("Milliseconds, by links and payments", counts, lines));
  }
  return findWorst(
    lines.map(({ name, values }) => ({
      operation: name,
      ...compare(values.at(-1) ?? Number.NaN, values[0] ?? Number.NaN),
    })),
  );
};

type FilledSystem = Awaited<ReturnType<typeof createFilledSystem>>;

/**
 * Starts the four services, and inserts `count` links by SQL, each with a payment and a webhook.
 * Returns the calls that the account and its payers can make.
 */
const createFilledSystem = async (onEnd: OnEnd, count: number) => {
  const shop = await startShop(onEnd, {});
  const { baseUrl } = shop.system;
  const { apiKey, cookie, handle } = shop.merchant;
  const create = async () => (await createLink(baseUrl, apiKey, { toAmount: "25" })).id;
  printProgress(`filling ${count.toLocaleString("en")}`);
  const seedId = await create();
  await pay(shop, seedId);
  await copyLink(shop.admin, seedId, count - 1);
  let pickedCount = 0;
  const unpaidIds: string[] = [];
  return {
    count,
    endpointId: shop.endpointId,
    handle,
    create,
    get: async (path: string, authentication: "key" | "session" | "none"): Promise<void> => {
      const headers = { key: { "x-api-key": apiKey }, session: { cookie }, none: {} };
      const response = await call(`${baseUrl}${path}`, { headers: headers[authentication] });
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    },
    /** Returns the ID of an inserted link. Successive IDs are spread over the whole table. */
    pickId: (): string => {
      pickedCount += 1;
      return `plink_7${String(1 + ((pickedCount * 7_919) % (count - 1))).padStart(25, "0")}`;
    },
    createUnpaid: async (): Promise<void> => {
      while (unpaidIds.length < timesPerRound) unpaidIds.push(await create());
    },
    payNext: () => pay(shop, unpaidIds.shift() ?? ""),
  };
};

/** A call by an account or its payer. `prepare` creates the data that a round of calls needs. */
type Operation = {
  name: string;
  prepare?: (system: FilledSystem) => Promise<void>;
  run: (system: FilledSystem) => Promise<unknown>;
};

const operations: readonly Operation[] = [
  { name: "create a link", run: ({ create }) => create() },
  { name: "retrieve a link", run: ({ get, pickId }) => get(`/v1/payment-link/${pickId()}`, "key") },
  { name: "list links", run: ({ get }) => get("/v1/payment-link", "key") },
  {
    name: "list completed links",
    run: ({ get }) => get("/v1/payment-link?status=completed", "key"),
  },
  {
    name: "checkout page",
    run: ({ get, handle, pickId }) => get(`/@${handle}/pay/${pickId()}`, "none"),
  },
  {
    name: "checkout, as data",
    run: ({ get, pickId }) => get(`/checkout/payment-links/${pickId()}`, "none"),
  },
  {
    name: "payments of a link",
    run: ({ get, pickId }) => get(`/console/api/payment-links/${pickId()}/payments`, "session"),
  },
  { name: "overview", run: ({ get }) => get("/console/api/overview", "session") },
  {
    name: "deliveries of an endpoint",
    run: ({ endpointId, get }) =>
      get(`/console/api/webhook-endpoints/${endpointId}/deliveries`, "session"),
  },
  {
    name: "a payment, from its notice to its webhook",
    prepare: ({ createUnpaid }) => createUnpaid(),
    run: ({ payNext }) => payNext(),
  },
];

const measureMedianMs = async (
  { prepare, run }: Operation,
  system: FilledSystem,
): Promise<number> => {
  await prepare?.(system);
  const durations: number[] = [];
  for (let index = 0; index < timesPerRound; index += 1) {
    const startedAt = performance.now();
    await run(system);
    durations.push(performance.now() - startedAt);
  }
  return median(durations);
};
