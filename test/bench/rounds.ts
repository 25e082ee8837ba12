import { Pool } from "pg";
import { type Call, measureRate, median } from "./load.ts";
import { type BenchSetup, connectionCount, poolSize } from "./bench-setup.ts";

/** The last line of a bench's output: the median rates per second, and their ratio. */
export type BenchResult = { ours: number; floor: number; ratio: number } & Record<string, unknown>;

const roundCount = 9;
const secondsPerRound = 3;
const warmUpSeconds = 10;
const bareShareMin = 0.3;

type RoundsOptions = {
  setup: BenchSetup;
  ours: () => Call;
  floor: () => Call;
  /** The baseline's SQL statement without a server, which shows how fast the baseline itself is. */
  bare: () => { name: string; text: string; values: unknown[] };
};

/**
 * Measures our server and the baseline in turns, in an order that changes in each round. Prints the
 * spread.
 */
export const runRounds = async ({
  setup,
  ours,
  floor,
  bare,
}: RoundsOptions): Promise<BenchResult> => {
  const measureOurs = (seconds: number) => measureRate(setup.ours.baseUrl, ours, seconds);
  const measureFloor = (seconds: number) => measureRate(setup.floor.baseUrl, floor, seconds);
  // Warms up first, so that JIT compilation is not measured.
  await measureOurs(warmUpSeconds);
  await measureFloor(warmUpSeconds);
  const rates = { ours: [] as number[], floor: [] as number[] };
  for (let round = 0; round < roundCount; round += 1) {
    if (round % 2 === 0) rates.ours.push(await measureOurs(secondsPerRound));
    rates.floor.push(await measureFloor(secondsPerRound));
    if (round % 2 === 1) rates.ours.push(await measureOurs(secondsPerRound));
    const [ourRate = 0, currentFloorRate = 0] = [rates.ours[round], rates.floor[round]];
    process.stdout.write(
      `round ${round + 1}: ours ${ourRate.toFixed(0)}/s, floor ${currentFloorRate.toFixed(0)}/s, ratio ${(ourRate / currentFloorRate).toFixed(3)}\n`,
    );
  }
  const bareRate = await measureBare(setup.databaseUrl, bare);
  const floorRate = median(rates.floor);
  const share = floorRate / bareRate;
  process.stdout.write(
    `spread: ours ${formatSpread(rates.ours)}, floor ${formatSpread(rates.floor)}\n`,
  );
  process.stdout.write(`the baseline reaches ${share.toFixed(2)} of a bare SQL loop's rate\n`);
  if (share < bareShareMin) throw new Error("the baseline is too slow for a comparison");
  const oursRate = median(rates.ours);
  return {
    ours: Math.round(oursRate),
    floor: Math.round(floorRate),
    ratio: Number((oursRate / floorRate).toFixed(3)),
    floorOfBare: Number(share.toFixed(2)),
  };
};

const measureBare = async (databaseUrl: string, bare: RoundsOptions["bare"]): Promise<number> => {
  const pool = new Pool({ connectionString: databaseUrl, max: poolSize });
  const startedAt = performance.now();
  const endsAt = startedAt + secondsPerRound * 1000;
  let count = 0;
  const runWorker = async () => {
    while (performance.now() < endsAt) {
      await pool.query(bare());
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connectionCount }, runWorker));
  const rate = count / ((performance.now() - startedAt) / 1000);
  await pool.end();
  return rate;
};

/** Formats the rates of the slowest, the median and the fastest round. */
export const formatSpread = (rates: readonly number[]): string =>
  `${Math.min(...rates).toFixed(0)}..${median(rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}/s`;
