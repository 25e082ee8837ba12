import { benchAuth } from "./auth.ts";
import { benchBacklog } from "./backlog.ts";
import { benchCheckoutPage } from "./checkout-page.ts";
import { benchConsole } from "./console.ts";
import { benchCreate } from "./create.ts";
import { benchCsv } from "./csv.ts";
import { benchDeepPages } from "./deep-pages.ts";
import { benchDeposits } from "./deposits.ts";
import { benchDispatchTls } from "./dispatch-tls.ts";
import { benchDispatch } from "./dispatch.ts";
import { benchEndurance } from "./endurance.ts";
import { benchGrowth } from "./growth.ts";
import { benchHanging } from "./hanging.ts";
import { benchLatency } from "./latency.ts";
import { benchList } from "./list.ts";
import { benchNeighbors } from "./neighbors.ts";
import { benchReplicas } from "./replicas.ts";
import { benchRetrieve } from "./retrieve.ts";
import type { BenchResult } from "./rounds.ts";
import { type BenchSetup, createBenchSetup } from "./bench-setup.ts";
import { benchStreams } from "./streams.ts";
import { benchTracing } from "./tracing.ts";
import { benchWatch } from "./watch.ts";

const withSetup =
  (bench: (setup: BenchSetup) => Promise<BenchResult>) => async (): Promise<BenchResult> => {
    const setup = await createBenchSetup();
    try {
      return await bench(setup);
    } finally {
      await setup.close();
    }
  };

const benches = {
  create: withSetup(benchCreate),
  retrieve: withSetup(benchRetrieve),
  list: withSetup(benchList),
  "deep-pages": withSetup(benchDeepPages),
  auth: benchAuth,
  dispatch: benchDispatch,
  "dispatch-tls": benchDispatchTls,
  latency: benchLatency,
  hanging: benchHanging,
  backlog: benchBacklog,
  watch: benchWatch,
  deposits: benchDeposits,
  streams: benchStreams,
  tracing: benchTracing,
  console: benchConsole,
  csv: benchCsv,
  growth: benchGrowth,
  endurance: benchEndurance,
  neighbours: benchNeighbors,
  replicas: benchReplicas,
  "checkout-page": withSetup(benchCheckoutPage),
};

const name = process.argv[2] ?? "";
if (!Object.hasOwn(benches, name)) {
  process.stderr.write(`usage: npm run --silent bench -- ${Object.keys(benches).join(" | ")}\n`);
  process.exit(2);
}

const result = await benches[name as keyof typeof benches]();
process.stdout.write(`${JSON.stringify({ bench: name, ...result })}\n`);
