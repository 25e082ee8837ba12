import { Client } from "pg";
import { openMerchant } from "../rig/client.ts";
import { fillLinks } from "./fill-links.ts";
import { measureMedianMs, median } from "./load.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Verdict } from "./rounds.ts";
import type { Stage } from "./stage.ts";

const manyCount = 1_000_000;
const fewCount = 10;
const roundCount = 11;
const callsPerRound = 60;
const markMsMax = 300_000;

/** The shapes of an account: its links, and the filters that are used on it. */
const shapes = [
  { name: "mixed", status: "(ARRAY['active','completed','inactive'])[1 + n % 3]", expires: "NULL" },
  { name: "all completed", status: "'completed'", expires: "NULL" },
  // A million links that expire at one instant: measured at once, while the job marks them, and
  // after it.
  { name: "just expired", status: "'active'", expires: "now() - interval '1 hour'" },
  { name: "all expired", status: "'active'", expires: "now() - interval '1 hour'" },
] as const;
const filters = ["", "?status=active", "?status=completed", "?status=inactive"] as const;

/**
 * The first page of an account with a million links, compared with that of one with ten: without a
 * filter and with each status, one that matches nothing included. `ours` is the larger account's
 * median in milliseconds, `floor` the smaller one's, of the worst pair; `ratio` should stay under
 * 1.5. `justExpired` is the worst ratio in the minute after a million links expired at one instant.
 */
export const benchList = async (stage: Stage): Promise<Verdict> => {
  const admin = new Client({ connectionString: stage.adminUrl });
  await admin.connect();
  const pairs: Verdict[] = [];
  for (const shape of shapes) {
    const name = shape.name.replaceAll(" ", "_");
    const few = await openMerchant(adminSystem(stage), `few_${name}`);
    const many = await openMerchant(adminSystem(stage), `many_${name}`);
    await fillLinks(admin, stage, { ...few, count: fewCount }, shape);
    await fillLinks(admin, stage, { ...many, count: manyCount }, shape);
    await vacuum(admin);
    if (shape.name === "all expired") await untilMarked(admin);
    for (const filter of filters) {
      const times = { ours: [] as number[], floor: [] as number[] };
      for (let round = 0; round < roundCount; round += 1) {
        const measure = (apiKey: string) =>
          measureMedianMs(
            stage.ours.baseUrl,
            { method: "GET", path: `/v1/payment-link${filter}`, headers: { "x-api-key": apiKey } },
            callsPerRound,
          );
        times.floor.push(await measure(few.apiKey));
        times.ours.push(await measure(many.apiKey));
      }
      const [ours, floor] = [median(times.ours), median(times.floor)];
      const pair = { ours, floor, ratio: ours / floor, shape: shape.name, filter };
      const range = (list: number[]) => list.map((ms) => ms.toFixed(2)).join(" ");
      process.stdout.write(
        `${shape.name}, ${filter || "no filter"}: ratio ${pair.ratio.toFixed(2)} ` +
          `(a million: ${range(times.ours)} ms; ten: ${range(times.floor)} ms)\n`,
      );
      pairs.push(pair);
    }
  }
  await admin.end();
  const isPassing = ({ shape }: Verdict) => shape === "just expired";
  const worst = worstOf(pairs.filter((pair) => !isPassing(pair)));
  return { ...worst, justExpired: worstOf(pairs.filter(isPassing)).ratio };
};

const worstOf = (pairs: readonly Verdict[]): Verdict => {
  const worst = pairs.toSorted((a, b) => b.ratio - a.ratio)[0];
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};

/** As autovacuum does once it comes round. */
const vacuum = (admin: Client) => admin.query("VACUUM ANALYZE links_api.links");

const untilMarked = async (admin: Client): Promise<void> => {
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

const adminSystem = (stage: Stage) => ({
  baseUrl: stage.ours.baseUrl,
  internalUrl: stage.ours.internalUrl,
});
