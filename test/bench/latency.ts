import { percentile } from "../rig/percentile.ts";
import { connectBareClients } from "./bare-clients.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type Bench, compare, round, takeTurns } from "./harness.ts";
import { callEvenly, warmUp } from "./load.ts";
import { createOpenLinks, createPayNext, startShop } from "./payments.ts";

const perSecond = Number(process.env["RATE"] ?? 50);
const replicasPerService = Number(process.env["REPLICAS"] ?? 1);
const roundCount = Number(process.env["ROUNDS"] ?? 3);
const secondsPerRound = 10;
const warmUpStepSeconds = 5;

/**
 * Measures the time from a committed settlement, when the provider has its response, to the first
 * byte of the webhook at the receiver. It runs all four services with `REPLICAS` (1) replicas each,
 * at `RATE` (50) payments per second. Compares this, in `ROUNDS` (3) turns, with producing and
 * consuming a record on the same broker. `ratio` compares the medians and `ratioP99` the 99th
 * percentiles. `chain` is the duration of the same steps with only bare clients: a record, a commit,
 * a record, a commit and a call, one after the other.
 */
export const benchLatency: Bench = async (onEnd) => {
  const servers = await startBenchServers();
  onEnd(servers.close);
  const shop = await startShop(onEnd, { replicasPerService });
  const payNext = createPayNext(shop, await createOpenLinks(shop));
  const { sendRecord, runChain } = await connectBareClients(onEnd, shop.system);
  for (const call of [payNext, sendRecord, runChain]) {
    await warmUp(call, { perSecond, stepSeconds: warmUpStepSeconds });
  }
  const callOptions = { count: secondsPerRound * perSecond, perSecond };
  const rounds = await takeTurns(
    roundCount,
    {
      ours: () => callEvenly(payNext, callOptions),
      floor: () => callEvenly(sendRecord, callOptions),
      chain: () => callEvenly(runChain, callOptions),
    },
    (ms) => `p50 ${percentile(ms, 0.5).toFixed(1)} ms, p99 ${percentile(ms, 0.99).toFixed(1)} ms`,
  );
  const compareAt = (share: number) =>
    compare(percentile(rounds.ours.flat(), share), percentile(rounds.floor.flat(), share));
  const p99 = compareAt(0.99);
  return {
    ...compareAt(0.5),
    oursP99: p99.ours,
    floorP99: p99.floor,
    ratioP99: p99.ratio,
    chain: round(percentile(rounds.chain.flat(), 0.5)),
    chainP99: round(percentile(rounds.chain.flat(), 0.99)),
  };
};
