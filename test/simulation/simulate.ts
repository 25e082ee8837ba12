import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { type EpisodeResult, playEpisode } from "./episode/play-episode.ts";
import { chainOfSeed } from "./episode/ways.ts";
import { schemas } from "./episode/wipe.ts";
import { installSeams } from "./seams.ts";

export type Simulation = {
  episodes: number;
  steps: number;
  /** What happened how often, by kind. */
  counts: ReadonlyMap<string, number>;
  /** What each episode came to, in order. */
  digests: readonly string[];
  /** The first episode in which something was found; undefined if nothing was. */
  found: EpisodeResult | undefined;
};

type Options = {
  /** One episode for each, in order. */
  seeds: Iterable<number>;
  /** Whether to play the next seed. By default the run ends with the seeds. */
  goesOn?: (soFar: Omit<Simulation, "digests" | "found">) => boolean;
  /** Plays the remaining seeds also after an episode that finds something. */
  keepsGoing?: boolean;
  /** Hears every line of every episode. */
  heard?: (line: string) => void;
  /** Whether to end in the middle of an episode, which then counts for nothing. */
  isOver?: () => boolean;
  played?: (result: EpisodeResult) => void;
};

/** Sessions of this database find deadlocks fast, and wait for no disk. */
const databaseSettings = ["deadlock_timeout = '1ms'", "synchronous_commit = off"];

/** Seeds without end, `stride` apart; with `chainId` only those that play that chain. */
export function* seedsFrom(
  first: number,
  { chainId, stride = 1 }: { chainId?: string | undefined; stride?: number } = {},
): Generator<number> {
  for (let seed = first; ; seed += stride) {
    if (chainId === undefined || chainOfSeed(seed) === chainId) yield seed;
  }
}

const share = "abs(hashtext(applied_ids[1]) % 8)";

/**
 * Which share of a day a payment adds to is chosen by its id, which is drawn anew each time that a seed is
 * played: here all add to the same one, and two wait for each other always, not by chance.
 */
const unshareOverview = async (admin: Client): Promise<void> => {
  const { rows } = await admin.query<{ source: string }>(
    "SELECT pg_get_functiondef('links_api.keep_overview'::regproc) AS source",
  );
  const source = rows[0]?.source ?? "";
  if (!source.includes(share)) throw new Error("the overview chooses its shares in another way");
  await admin.query(source.replace(share, "0"));
};

/**
 * Where a row lies decides where it stands in what is claimed at once. A vacuum would make room whenever
 * it comes, and so would whoever looks on from this very database: `lookout` is in another one.
 */
const keepPlaces = async (admin: Client): Promise<void> => {
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
  goesOn = () => true,
  heard,
  isOver = () => false,
  keepsGoing = false,
  played,
  seeds,
}: Options): Promise<Simulation> => {
  installSeams();
  const database = await createTestDatabase(schemas);
  const admin = new Client({ connectionString: database.adminUrl });
  const lookout = new Client({ connectionString: process.env["DATABASE_URL"] });
  await admin.connect();
  await lookout.connect();
  const name = new URL(database.adminUrl).pathname.slice(1);
  for (const setting of databaseSettings)
    await admin.query(`ALTER DATABASE ${name} SET ${setting}`);
  await unshareOverview(admin);
  await keepPlaces(admin);
  const folder = mkdtempSync(join(tmpdir(), "simulation-"));
  const counts = new Map<string, number>();
  const digests: string[] = [];
  let steps = 0;
  let found: EpisodeResult | undefined;
  try {
    for (const seed of seeds) {
      const ground = { admin, database, folder, isOver, lookout };
      const result = await playEpisode(seed, { ...ground, ...(heard && { heard }) });
      if (isOver()) break;
      digests.push(result.digest);
      steps += result.steps;
      for (const [what, count] of result.counts) counts.set(what, (counts.get(what) ?? 0) + count);
      if (result.finding !== undefined) found ??= result;
      played?.(result);
      if (found !== undefined && !keepsGoing) break;
      if (!goesOn({ episodes: digests.length, steps, counts })) break;
    }
  } finally {
    await admin.end();
    await lookout.end();
    await database.drop();
    rmSync(folder, { recursive: true });
  }
  return { episodes: digests.length, steps, counts, digests, found };
};

const linesShown = 60;

/** What was found, what happened just before it, and how to see it again. */
export const tellFinding = ({ finding, lines, logLines, seed }: EpisodeResult): string =>
  [
    ...lines.slice(-linesShown),
    "",
    ...logLines.slice(-linesShown / 4),
    "",
    `seed ${seed}: ${finding ?? "nothing"}`,
    `replay: npm run simulate -- --episodes 1 --seed ${seed}`,
  ].join("\n");
