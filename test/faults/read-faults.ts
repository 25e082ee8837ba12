import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A past defect as a patch that reintroduces it, and the tests that must detect it. */
export type PlantedFault = {
  /**
   * The folder and file name of the patch without extension, such as `packages/bus/skips-an-event`.
   */
  readonly id: string;
  /** The patch's absolute path. */
  readonly path: string;
  readonly packageName: string;
  /** The commit that fixed the defect: its abbreviated hash and its subject. */
  readonly fixedBy: string;
  /** What goes wrong, and which user is affected. */
  readonly impact: string;
  /** Test files, as paths from the root. */
  readonly caughtBy: readonly string[];
  /** The files that the patch changes, as paths from the root. */
  readonly changedFiles: readonly string[];
  /** The seeds with which the simulation detects the fault. */
  readonly seeds?: readonly number[];
};

const headerNames = ["Package", "Undoes", "Breaks", "Caught-by"] as const;
/**
 * The folder of faults that the simulation must detect. Each of them names the seeds that detect
 * it.
 */
const simulationDirectory = "simulation";
const idPattern = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)+[a-z0-9]+(?:-[a-z0-9]+)+$/;
const fixedByPattern = /^[0-9a-f]{8} \S/;
const impactPattern = /^[A-Z].*\.$/;
const seedsPattern = /^\d+(?:, \d+)*$/;

/** Parses a fault from the text of its patch. Throws an error that names the fault. */
export const parseFault = (id: string, path: string, text: string): PlantedFault => {
  const createProblem = (message: string) => new Error(`${id}: ${message}`);
  if (!idPattern.test(id)) throw createProblem("the name is not in kebab case");
  const start = text.indexOf("\ndiff --git ");
  if (start === -1) throw createProblem("the patch has no diff");
  const headers = new Map<string, string>();
  for (const line of text.slice(0, start).trimEnd().split("\n")) {
    const [, name = "", value = ""] = /^([A-Z][a-z-]*): (.+)$/.exec(line) ?? [];
    if (name === "" || headers.has(name)) throw createProblem(`"${line}" is not a header`);
    headers.set(name, value);
  }
  const isSimulationFault = dirname(id) === simulationDirectory;
  const expected = [...headerNames, ...(isSimulationFault ? ["Seeds"] : [])];
  if ([...headers.keys()].join() !== expected.join()) {
    throw createProblem(`the headers must be ${expected.join(", ")}`);
  }
  const [packageName = "", fixedBy = "", impact = "", tests = ""] = headerNames.map((name) =>
    headers.get(name),
  );
  if (packageName !== dirname(id) && !isSimulationFault) {
    throw createProblem(`Package must be ${dirname(id)}, not ${packageName}`);
  }
  if (!fixedByPattern.test(fixedBy))
    throw createProblem("Undoes must be a commit hash of 8 digits and its subject");
  if (!impactPattern.test(impact)) throw createProblem("Breaks must be a sentence");
  const changedFiles = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = ""]) => file);
  const seeds = headers.get("Seeds");
  if (seeds !== undefined && !seedsPattern.test(seeds))
    throw createProblem("Seeds must be numbers");
  const changedTest = changedFiles.find((file) => file.endsWith(".test.ts"));
  if (changedTest !== undefined) throw createProblem(`the patch changes a test: ${changedTest}`);
  return {
    id,
    path,
    packageName,
    fixedBy,
    impact,
    caughtBy: tests.split(" "),
    changedFiles,
    ...(seeds !== undefined && { seeds: seeds.split(", ").map(Number) }),
  };
};

/** Reads every fault in the folder `test/faults` of a clone, sorted by id. */
export const readFaults = (root: string): PlantedFault[] => {
  const directory = join(root, "test/faults");
  return globSync("**/*.patch", { cwd: directory })
    .toSorted()
    .map((file) => {
      const path = join(directory, file);
      return parseFault(file.replace(/\.patch$/, ""), path, readFileSync(path, "utf8"));
    });
};

/**
 * Selects the faults whose id, folder, parent folder or name is one of the queries. Returns all
 * faults if there are no queries.
 */
export const selectFaults = (
  faults: readonly PlantedFault[],
  queries: readonly string[],
): PlantedFault[] => {
  const matchesQuery = ({ id }: PlantedFault) =>
    queries.some((query) => `/${id}/`.includes(`/${query}/`));
  const unknownQuery = queries.find(
    (query) => !faults.some(({ id }) => `/${id}/`.includes(`/${query}/`)),
  );
  if (unknownQuery !== undefined)
    throw new Error(`there is no fault or folder named ${unknownQuery}`);
  return faults.filter((fault) => queries.length === 0 || matchesQuery(fault));
};
