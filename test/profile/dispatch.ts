import { createDispatchBench, runDispatch } from "../bench/dispatch-run.ts";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { startProfiling, createProfilingEnv } from "./system-profiles.ts";

const warmUpCount = 4_000;

/** Profiles the dispatcher from the records in Kafka until every 2xx is recorded. */
export const profileDispatch = async (options: {
  deliveryCount: number;
  endpointCount: number;
  directory: string;
}): Promise<{ perSecond: number; files: string[] }> => {
  const { deliveryCount, directory, endpointCount } = options;
  const [sinkPort = 0] = await findFreePorts(1);
  const sink = startChild("test/bench/sink-server.ts", { PORT: String(sinkPort) });
  try {
    await waitUntilListening(sink);
    const env = createProfilingEnv(directory);
    const bench = await createDispatchBench({ sinkPort, endpointCount, env });
    try {
      await runDispatch(bench, warmUpCount);
      const writeProfiles = startProfiling(bench.system, directory);
      const { rate } = await runDispatch(bench, deliveryCount);
      return { perSecond: Math.round(rate), files: await writeProfiles() };
    } finally {
      await bench.close();
    }
  } finally {
    await sink.terminate("SIGTERM");
  }
};
