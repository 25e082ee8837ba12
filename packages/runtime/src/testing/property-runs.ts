/** `npm run test:all` sets this variable. Property tests then run with many new cases, and all cases run. */
export const isSoakRun = process.env["TEST_ALL"] === "1";

const commitSeed = 20_261_128;
/** The default of fast-check. */
const defaultCaseCount = 100;

/**
 * Returns the seed of the generated cases. It is constant for a commit, so that a new failure is
 * caused by a code change. `npm run test:all` uses a new seed. Set `SEED` to replay a run.
 */
export const getCaseSeed = (): number =>
  Number(process.env["SEED"] ?? (isSoakRun ? Math.floor(Math.random() * 2 ** 31) : commitSeed));

/** Returns the number of generated cases: a small number by default, `soak` in `npm run test:all`. */
export const getCaseCount = ({ commit = defaultCaseCount, soak }: CaseCounts): number =>
  isSoakRun ? soak : Math.min(commit, soak);

type CaseCounts = { commit?: number; soak: number };

/** Returns the options of `fc.assert` for that number of cases. */
export const getPropertyRunOptions = (counts: CaseCounts) => ({
  numRuns: getCaseCount(counts),
  seed: getCaseSeed(),
});
