import { Client } from "pg";
import { createMerchant } from "../rig/client.ts";
import { fillLinks } from "./fill-links.ts";
import { measureMedianMs, median } from "./load.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { BenchResult } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";

const manyCount = 1_000_000;
const fewCount = 10;
const roundCount = 11;
const callsPerRound = 60;
const markMsMax = 300_000;

/** The kinds of accounts by the state of their links. Each kind is listed with each filter. */
const shapes = [
  { name: "mixed", status: "(ARRAY['active','completed','inactive'])[1 + n % 3]", expires: "NULL" },
  { name: "all completed", status: "'completed'", expires: "NULL" },
  // One million links that expire at the same instant. They are measured while the job marks them
  // as expired, and again afterwards.
  { name: "just expired", status: "'active'", expires: "now() - interval '1 hour'" },
  { name: "all expired", status: "'active'", expires: "now() - interval '1 hour'" },
] as const;
const filters = ["", "?status=active", "?status=completed", "?status=inactive"] as const;

/**
 * Measures the first page of a list of one million links and compares it with a list of ten links.
 * Lists them without a filter and with each status, including a status that does not match any
 * link. `ours` is the median in milliseconds of the larger account and `floor` that of the smaller
 * account. Both are from the pair with the worst ratio. `ratio` should stay under 1.5.
 * `justExpired` is the worst ratio while the job marks one million links that expired at the same
 * instant.
 */
export const benchList = async (setup: BenchSetup): Promise<BenchResult> => {
  const admin = new Client({ connectionString: setup.adminUrl });
  await admin.connect();
  const pairs: BenchResult[] = [];
  for (const shape of shapes) {
    const name = shape.name.replaceAll(" ", "_");
    const fewLinksAccount = await createMerchant(getAdminUrls(setup), `few_${name}`);
    const manyLinksAccount = await createMerchant(getAdminUrls(setup), `many_${name}`);
    await fillLinks(admin, setup, { ...fewLinksAccount, count: fewCount }, shape);
    await fillLinks(admin, setup, { ...manyLinksAccount, count: manyCount }, shape);
    await vacuum(admin);
    if (shape.name === "all expired") await waitUntilMarked(admin);
    for (const filter of filters) {
      const times = { ours: [] as number[], floor: [] as number[] };
      for (let round = 0; round < roundCount; round += 1) {
        const measure = (apiKey: string) =>
          measureMedianMs(
            setup.ours.baseUrl,
            { method: "GET", path: `/v1/payment-link${filter}`, headers: { "x-api-key": apiKey } },
            callsPerRound,
          );
        times.floor.push(await measure(fewLinksAccount.apiKey));
        times.ours.push(await measure(manyLinksAccount.apiKey));
      }
      const [ours, floor] = [median(times.ours), median(times.floor)];
      const pair = { ours, floor, ratio: ours / floor, shape: shape.name, filter };
      const formatTimes = (timesMs: number[]) => timesMs.map((ms) => ms.toFixed(2)).join(" ");
      process.stdout.write(
        `${shape.name}, ${filter || "no filter"}: ratio ${pair.ratio.toFixed(2)} ` +
          `(a million: ${formatTimes(times.ours)} ms; ten: ${formatTimes(times.floor)} ms)\n`,
      );
      pairs.push(pair);
    }
  }
  await admin.end();
  const isJustExpired = ({ shape }: BenchResult) => shape === "just expired";
  const worst = findWorst(pairs.filter((pair) => !isJustExpired(pair)));
  return { ...worst, justExpired: findWorst(pairs.filter(isJustExpired)).ratio };
};

const findWorst = (pairs: readonly BenchResult[]): BenchResult => {
  const worst = pairs.toSorted((a, b) => b.ratio - a.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};

/** Vacuums now, as autovacuum would do later. */
const vacuum = (admin: Client) => admin.query("VACUUM ANALYZE links_api.links");

const waitUntilMarked = async (admin: Client): Promise<void> => {
  await waitUntil(
    "the expired links are marked",
    async () => {
      const { rows } = await admin.query(`
        SELECT FROM links_api.links WHERE status = 'active' AND expires_at <= now() LIMIT 1`);
      return rows.length === 0;
    },
    markMsMax,
  );
  await vacuum(admin);
};

const getAdminUrls = (setup: BenchSetup) => ({
  baseUrl: setup.ours.baseUrl,
  internalUrl: setup.ours.internalUrl,
});
