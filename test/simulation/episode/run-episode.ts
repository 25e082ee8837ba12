import type { Client } from "pg";
import { Finding } from "../finding.ts";
import { handleNodeRequest } from "../node.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { setScope } from "../seams.ts";
import { receiveWebhook } from "../shop/webhook-receivers.ts";
import { runEpisodePhases } from "./episode-phases.ts";
import type { Episode } from "./episode.ts";
import { type EpisodeContext, createEpisode } from "./create-episode.ts";
import { killProcess } from "./processes.ts";
import { emptyTables } from "./empty-tables.ts";

export type EpisodeResult = {
  seed: number;
  steps: number;
  digest: string;
  counts: ReadonlyMap<string, number>;
  /** The violation, or undefined if there is none. */
  finding: string | undefined;
  traceLines: readonly string[];
  logLines: readonly string[];
};

/** Runs one episode on empty tables. */
export const runEpisode = async (
  seed: number,
  {
    monitorClient,
    ...context
  }: EpisodeContext & {
    /**
     * A session connected to another database. An observer in the episode's database would
     * change how the episode runs.
     */
    monitorClient: Client;
  },
): Promise<EpisodeResult> => {
  const { episode, logLines } = createEpisode(seed, context);
  const { processes, world } = episode;
  await emptyTables(context.admin);
  postgresSeam.monitorClient = monitorClient;
  world.setFindBlockedSessions(postgresSeam.findBlockedSessions);
  installAdversaries(episode);
  let finding: string | undefined;
  try {
    await runEpisodePhases(episode);
  } catch (error) {
    finding = error instanceof Finding ? error.message : String((error as Error).stack);
  }
  for (const { simProcess } of processes.replicas.slice()) await killProcess(processes, simProcess);
  setScope(undefined);
  await postgresSeam.terminateLateCommits();
  return {
    seed,
    steps: world.steps(),
    digest: world.digest(),
    counts: world.counts(),
    finding,
    traceLines: world.traceLines(),
    logLines,
  };
};

/** Installs the simulated webhook receivers and nodes that processes call. */
const installAdversaries = ({ chain, providerSchedule, shop, world }: Episode): void =>
  setScope({
    world,
    adversaries: {
      receiveWebhook: (call) => receiveWebhook(shop, call),
      handleRpcRequest: (host, body) => {
        const provider = providerSchedule.providers.find((candidate) => candidate.host === host);
        if (provider === undefined)
          throw new Finding(`a request was sent to the unknown host ${host}`);
        return handleNodeRequest({ chain, kind: shop.kind, world }, provider, body);
      },
    },
  });
