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
  /** The number of events by kind. */
  counts: ReadonlyMap<string, number>;
  /** The digest of each episode, in order. */
  digests: readonly string[];
  /** The first episode with a violation, or undefined if there is none. */
  failedEpisode: EpisodeResult | undefined;
};

type Options = {
  /** The seeds of the episodes, in order. */
  seeds: Iterable<number>;
  /**
   * Returns whether to run the next seed. By default, the run continues until there are no more
   * seeds.
   */
  shouldContinue?: (progress: Omit<SimulationResult, "digests" | "failedEpisode">) => boolean;
  /** Whether to run the remaining seeds after an episode with a violation. */
  continuesAfterFinding?: boolean;
  /** A function that receives every trace line of every episode. */
  onTraceLine?: (line: string) => void;
  /** Returns whether to stop during an episode. Its result is then discarded. */
  shouldStop?: () => boolean;
  onEpisodeEnd?: (result: EpisodeResult) => void;
};

/** Sessions of this database detect deadlocks quickly and do not wait for the disk. */
const databaseSettings = ["deadlock_timeout = '1ms'", "synchronous_commit = off"];

/**
 * Generates an infinite sequence of seeds that are `stride` apart. With `chainId`, generates only
 * seeds of that chain.
 */
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
 * A payment's ID selects the shard of a day's overview, and IDs are different each time a seed is
 * replayed. Uses a single shard, so that two payments always wait for each other instead of only by
 * chance.
 */
const disableOverviewSharding = async (admin: Client): Promise<void> => {
  const { rows } = await admin.query<{ source: string }>(
    "SELECT pg_get_functiondef('links_api.keep_overview'::regproc) AS source",
  );
  const source = rows[0]?.source ?? "";
  if (!source.includes(shardExpression))
    throw new Error("keep_overview selects its shard in another way: change shardExpression");
  await admin.query(source.replace(shardExpression, "0"));
};

/**
 * The physical position of a row affects the order in which batches are claimed, and a vacuum frees
 * space at unpredictable times. A monitor in this database would delay the vacuum, so
 * `monitorClient` uses another database.
 */
const disableAutovacuum = async (admin: Client): Promise<void> => {
  // A vacuum of a system catalog would block statements at a time that the seed does not determine.
  await admin.query("SET allow_system_table_mods = on");
  const { rows } = await admin.query<{ name: string }>(
    `SELECT oid::regclass AS name FROM pg_class
     WHERE relkind = 'r' AND NOT relisshared AND relnamespace::regnamespace::text = ANY ($1)`,
    [["pg_catalog", ...schemas.map(({ schema }) => schema)]],
  );
  for (const { name } of rows)
    await admin.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
};

/** Runs episodes in a separate database until one of them has a violation. */
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

/** Formats a violation with the events before it and the command that reproduces it. */
export const formatFinding = ({ finding, traceLines, logLines, seed }: EpisodeResult): string =>
  [
    ...traceLines.slice(-traceLinesShown),
    "",
    ...logLines.slice(-traceLinesShown / 4),
    "",
    `seed ${seed}: ${finding ?? "nothing"}`,
    `replay: npm run simulate -- --episodes 1 --seed ${seed}`,
  ].join("\n");
