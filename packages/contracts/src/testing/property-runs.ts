/** `npm run test:all` sets it: properties are then tried with many new cases. */
const isSoakRun = process.env["TEST_ALL"] === "1";

const commitSeed = 20_261_128;
/** As many as fast-check tries where nothing is said. */
const defaultCaseCount = 100;

/**
 * What cases are drawn from: always the same seed for a commit, so that a failure is the commit's; a
 * new one in `npm run test:all`. `SEED` replays one.
 */
export const getCaseSeed = (): number =>
  Number(process.env["SEED"] ?? (isSoakRun ? Math.floor(Math.random() * 2 ** 31) : commitSeed));

/** How many cases are drawn: few for a commit, `soak` in `npm run test:all`. */
export const getCaseCount = ({ commit = defaultCaseCount, soak }: CaseCounts): number =>
  isSoakRun ? soak : Math.min(commit, soak);

type CaseCounts = { commit?: number; soak: number };

/** The options of `fc.assert` for that many cases. */
export const getPropertyRunOptions = (counts: CaseCounts) => ({
  numRuns: getCaseCount(counts),
  seed: getCaseSeed(),
});
