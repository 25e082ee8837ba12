import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { type EpisodeResult, runEpisode } from "./episode/run-episode.ts";
import { getChainOfSeed } from "./episode/chain-watch-config.ts";
import { schemas } from "./episode/empty-tables.ts";
import { installSeams } from "./seams.ts";

export type SimulationResult = {
  episodes: number;
  steps: number;
  /** What happened how often, by kind. */
  counts: ReadonlyMap<string, number>;
  /** What each episode came to, in order. */
  digests: readonly string[];
  /** The first episode in which something was found; undefined if nothing was. */
  failedEpisode: EpisodeResult | undefined;
};

type Options = {
  /** One episode for each, in order. */
  seeds: Iterable<number>;
  /** Whether to play the next seed. By default the run ends with the seeds. */
  shouldContinue?: (progress: Omit<SimulationResult, "digests" | "failedEpisode">) => boolean;
  /** Plays the remaining seeds also after an episode that finds something. */
  continuesAfterFinding?: boolean;
  /** Hears every line of every episode. */
  onTraceLine?: (line: string) => void;
  /** Whether to end in the middle of an episode, which then counts for nothing. */
  shouldStop?: () => boolean;
  onEpisodeEnd?: (result: EpisodeResult) => void;
};

/** Sessions of this database find deadlocks fast, and wait for no disk. */
const databaseSettings = ["deadlock_timeout = '1ms'", "synchronous_commit = off"];

/** Seeds without end, `stride` apart; with `chainId` only those that play that chain. */
export function* seedsFrom(
  firstSeed: number,
  { chainId, stride = 1 }: { chainId?: string | undefined; stride?: number } = {},
): Generator<number> {
  for (let seed = firstSeed; ; seed += stride) {
    if (chainId === undefined || getChainOfSeed(seed) === chainId) yield seed;
  }
}

const shardExpression = "abs(hashtext(applied_ids[1]) % 8)";

/**
 * Which share of a day a payment adds to is chosen by its id, which is drawn anew each time that a seed is
 * played: here all add to the same one, and two wait for each other always, not by chance.
 */
const disableOverviewSharding = async (admin: Client): Promise<void> => {
  const { rows } = await admin.query<{ source: string }>(
    "SELECT pg_get_functiondef('links_api.keep_overview'::regproc) AS source",
  );
  const source = rows[0]?.source ?? "";
  if (!source.includes(shardExpression))
    throw new Error("the overview chooses its shares in another way");
  await admin.query(source.replace(shardExpression, "0"));
};

/**
 * Where a row lies decides where it stands in what is claimed at once. A vacuum would make room whenever
 * it comes, and so would whoever looks on from this very database: `monitorClient` is in another one.
 */
const disableAutovacuum = async (admin: Client): Promise<void> => {
  // A vacuum of a catalog makes statements wait at a moment that no seed determines.
  await admin.query("SET allow_system_table_mods = on");
  const { rows } = await admin.query<{ name: string }>(
    `SELECT oid::regclass AS name FROM pg_class
     WHERE relkind = 'r' AND NOT relisshared AND relnamespace::regnamespace::text = ANY ($1)`,
    [["pg_catalog", ...schemas.map(({ schema }) => schema)]],
  );
  for (const { name } of rows)
    await admin.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
};

/** Plays episode after episode over one database of its own, until one finds something. */
export const simulate = async ({
  shouldContinue = () => true,
  onTraceLine,
  shouldStop = () => false,
  continuesAfterFinding = false,
  onEpisodeEnd,
  seeds,
}: Options): Promise<SimulationResult> => {
  installSeams();
  const database = await createTestDatabase(schemas);
  const admin = new Client({ connectionString: database.adminUrl });
  const monitorClient = new Client({ connectionString: process.env["DATABASE_URL"] });
  await admin.connect();
  await monitorClient.connect();
  const name = new URL(database.adminUrl).pathname.slice(1);
  for (const setting of databaseSettings)
    await admin.query(`ALTER DATABASE ${name} SET ${setting}`);
  await disableOverviewSharding(admin);
  await disableAutovacuum(admin);
  const folder = mkdtempSync(join(tmpdir(), "simulation-"));
  const counts = new Map<string, number>();
  const digests: string[] = [];
  let steps = 0;
  let failedEpisode: EpisodeResult | undefined;
  try {
    for (const seed of seeds) {
      const context = { admin, database, configFolder: folder, shouldStop, monitorClient };
      const result = await runEpisode(seed, { ...context, ...(onTraceLine && { onTraceLine }) });
      if (shouldStop()) break;
      digests.push(result.digest);
      steps += result.steps;
      for (const [event, count] of result.counts)
        counts.set(event, (counts.get(event) ?? 0) + count);
      if (result.finding !== undefined) failedEpisode ??= result;
      onEpisodeEnd?.(result);
      if (failedEpisode !== undefined && !continuesAfterFinding) break;
      if (!shouldContinue({ episodes: digests.length, steps, counts })) break;
    }
  } finally {
    await admin.end();
    await monitorClient.end();
    await database.drop();
    rmSync(folder, { recursive: true });
  }
  return { episodes: digests.length, steps, counts, digests, failedEpisode };
};

const traceLinesShown = 60;

/** What was found, what happened just before it, and how to see it again. */
export const formatFinding = ({ finding, traceLines, logLines, seed }: EpisodeResult): string =>
  [
    ...traceLines.slice(-traceLinesShown),
    "",
    ...logLines.slice(-traceLinesShown / 4),
    "",
    `seed ${seed}: ${finding ?? "nothing"}`,
    `replay: npm run simulate -- --episodes 1 --seed ${seed}`,
  ].join("\n");
