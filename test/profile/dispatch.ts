import { openDispatchBench, runDispatch } from "../bench/dispatch-run.ts";
import { startChild, waitListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { profileSystem, profiledEnv } from "./system-profiles.ts";

const warmUpCount = 4_000;

/** What the dispatcher computes from records in Kafka until every 2xx is recorded. */
export const profileDispatch = async (options: {
  deliveryCount: number;
  endpointCount: number;
  directory: string;
}): Promise<{ perSecond: number; files: string[] }> => {
  const { deliveryCount, directory, endpointCount } = options;
  const [sinkPort = 0] = await findFreePorts(1);
  const sink = startChild("test/bench/sink-server.ts", { PORT: String(sinkPort) });
  try {
    await waitListening(sink);
    const env = profiledEnv(directory);
    const bench = await openDispatchBench({ sinkPort, endpointCount, env });
    try {
      await runDispatch(bench, warmUpCount);
      const writeProfiles = profileSystem(bench.system, directory);
      const { rate } = await runDispatch(bench, deliveryCount);
      return { perSecond: Math.round(rate), files: await writeProfiles() };
    } finally {
      await bench.close();
    }
  } finally {
    await sink.end("SIGTERM");
  }
};
