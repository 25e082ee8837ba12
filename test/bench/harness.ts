/** The last line of a bench's output. `ratio` is `ours` divided by `floor`, the baseline. */
export type BenchResult = { ours: number; floor: number; ratio: number } & Record<string, unknown>;

/** Registers a function that is called at the end, also after an error. The last one comes first. */
export type OnEnd = (close: () => unknown) => void;

export type Bench = (onEnd: OnEnd) => Promise<BenchResult>;

/** Runs a bench or a profile, and then stops everything that it started. */
export const runToEnd = async <Result>(
  work: (onEnd: OnEnd) => Promise<Result>,
): Promise<Result> => {
  const closeFunctions: (() => unknown)[] = [];
  try {
    return await work((close) => closeFunctions.push(close));
  } finally {
    for (const close of closeFunctions.toReversed()) await close();
  }
};

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Measures the variants in turns, so that a slow phase of the machine affects all of them. Every
 * second round has the opposite order. Prints each round. Returns the results of each variant.
 */
export const takeTurns = async <Name extends string, Result>(
  roundCount: number,
  variants: Readonly<Record<Name, () => Promise<Result>>>,
  format: (result: Result) => string,
): Promise<Record<Name, Result[]>> => {
  const names = Object.keys(variants) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]]));
  for (let round = 0; round < roundCount; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name]?.push(await variants[name]());
    }
    const texts = names.flatMap((name) =>
      (results[name] ?? []).slice(-1).map((result) => `${name} ${format(result)}`),
    );
    print(`round ${round + 1}: ${texts.join("; ")}`);
  }
  return results as Record<Name, Result[]>;
};

export const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** Compares a measurement with its baseline. */
export const compare = (ours: number, floor: number, digits = 2) => ({
  ours: round(ours, digits),
  floor: round(floor, digits),
  ratio: round(ours / floor, 3),
});

/** Returns the result whose ratio is the highest or the lowest. */
export const findWorst = <Result extends { ratio: number }>(
  results: readonly Result[],
  worstIs: "highest" | "lowest" = "highest",
): Result => {
  const sorted = results.toSorted((a, b) => b.ratio - a.ratio);
  const worst = worstIs === "highest" ? sorted[0] : sorted.at(-1);
  if (worst === undefined) throw new Error("nothing was measured");
  return worst;
};
