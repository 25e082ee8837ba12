import type { Client } from "pg";
import { Finding } from "../finding.ts";
import { answerAsNode } from "../node.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { enter } from "../seams.ts";
import { receive } from "../shop/receivers.ts";
import { playAll } from "./acts.ts";
import type { Episode } from "./episode.ts";
import { type Ground, openEpisode } from "./open-episode.ts";
import { kill } from "./processes.ts";
import { wipe } from "./wipe.ts";

export type EpisodeResult = {
  seed: number;
  steps: number;
  digest: string;
  counts: ReadonlyMap<string, number>;
  /** What must never be, or undefined. */
  finding: string | undefined;
  lines: readonly string[];
  logLines: readonly string[];
};

/** Plays one episode, over rows of no other. */
export const playEpisode = async (
  seed: number,
  {
    lookout,
    ...ground
  }: Ground & {
    /** A session beside the episode's database: what looks on from within would change it. */
    lookout: Client;
  },
): Promise<EpisodeResult> => {
  const { episode, logLines } = openEpisode(seed, ground);
  const { processes, world } = episode;
  await wipe(ground.admin);
  postgresSeam.lookout = lookout;
  world.findWaitingBy(postgresSeam.findWaiting);
  enterStrangers(episode);
  let finding: string | undefined;
  try {
    await playAll(episode);
  } catch (error) {
    finding = error instanceof Finding ? error.message : String((error as Error).stack);
  }
  for (const { owner } of processes.replicas.slice()) await kill(processes, owner);
  enter(undefined);
  await postgresSeam.cutLate();
  return {
    seed,
    steps: world.steps(),
    digest: world.digest(),
    counts: world.counts(),
    finding,
    lines: world.lines(),
    logLines,
  };
};

/** Whom the processes ask that are none of the product's: receivers of webhooks, and nodes. */
const enterStrangers = ({ chain, providers, shop, world }: Episode): void =>
  enter({
    world,
    strangers: {
      receive: (call) => receive(shop, call),
      ask: (host, body) => {
        const provider = providers.all.find((one) => one.host === host);
        if (provider === undefined) throw new Finding(`${host} is asked`);
        return answerAsNode({ chain, kind: shop.kind, world }, provider, body);
      },
    },
  });
