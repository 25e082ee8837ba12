import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A defect of the past as a patch that brings it back, and the tests that must catch it. */
export type Fault = {
  /** Its folder and its file's name, such as `packages/bus/skips-an-event`. */
  readonly id: string;
  /** The patch's absolute path. */
  readonly path: string;
  readonly room: string;
  /** The commit that mended the defect: its abbreviated hash and its subject. */
  readonly undoes: string;
  /** What goes wrong for which user. */
  readonly breaks: string;
  /** Test files, by their paths from the root. */
  readonly caughtBy: readonly string[];
  /** The files that the patch changes, by their paths from the root. */
  readonly changedFiles: readonly string[];
  /** The seeds of the simulation that catch it. */
  readonly seeds?: readonly number[];
};

const names = ["Room", "Undoes", "Breaks", "Caught-by"] as const;
/** Faults that the simulation must catch lie together, each with the seeds that catch it. */
const simulationFolder = "simulation";
const idPattern = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)+[a-z0-9]+(?:-[a-z0-9]+)+$/;
const undoesPattern = /^[0-9a-f]{8} \S/;
const breaksPattern = /^[A-Z].*\.$/;
const seedsPattern = /^\d+(?:, \d+)*$/;

/** Reads a fault from the text of its patch; throws an error that names the fault. */
export const parseFault = (id: string, path: string, text: string): Fault => {
  const problem = (message: string) => new Error(`${id}: ${message}`);
  if (!idPattern.test(id)) throw problem("its name is not in kebab case");
  const start = text.indexOf("\ndiff --git ");
  if (start === -1) throw problem("it has no diff");
  const headers = new Map<string, string>();
  for (const line of text.slice(0, start).trimEnd().split("\n")) {
    const [, name = "", value = ""] = /^([A-Z][a-z-]*): (.+)$/.exec(line) ?? [];
    if (name === "" || headers.has(name)) throw problem(`"${line}" is no header`);
    headers.set(name, value);
  }
  const isOfSimulation = dirname(id) === simulationFolder;
  const expected = [...names, ...(isOfSimulation ? ["Seeds"] : [])];
  if ([...headers.keys()].join() !== expected.join()) {
    throw problem(`its headers must be ${expected.join(", ")}`);
  }
  const [room = "", undoes = "", breaks = "", tests = ""] = names.map((name) => headers.get(name));
  if (room !== dirname(id) && !isOfSimulation) {
    throw problem(`its room is ${dirname(id)}, not ${room}`);
  }
  if (!undoesPattern.test(undoes)) throw problem("Undoes must be a hash of 8 digits and a subject");
  if (!breaksPattern.test(breaks)) throw problem("Breaks must be a sentence");
  const changedFiles = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = ""]) => file);
  const seeds = headers.get("Seeds");
  if (seeds !== undefined && !seedsPattern.test(seeds)) throw problem("Seeds must be numbers");
  const changedTest = changedFiles.find((file) => file.endsWith(".test.ts"));
  if (changedTest !== undefined) throw problem(`it changes a test: ${changedTest}`);
  return {
    id,
    path,
    room,
    undoes,
    breaks,
    caughtBy: tests.split(" "),
    changedFiles,
    ...(seeds !== undefined && { seeds: seeds.split(", ").map(Number) }),
  };
};

/** Reads every fault below the folder `test/faults` of a clone, sorted by id. */
export const readFaults = (clone: string): Fault[] => {
  const folder = join(clone, "test/faults");
  return globSync("**/*.patch", { cwd: folder })
    .toSorted()
    .map((file) => {
      const path = join(folder, file);
      return parseFault(file.replace(/\.patch$/, ""), path, readFileSync(path, "utf8"));
    });
};

/** Selects the faults whose id, room, parent room or name is one of the words; all for no words. */
export const selectFaults = (faults: readonly Fault[], words: readonly string[]): Fault[] => {
  const isNamed = ({ id }: Fault) => words.some((word) => `/${id}/`.includes(`/${word}/`));
  const unknown = words.find((word) => !faults.some(({ id }) => `/${id}/`.includes(`/${word}/`)));
  if (unknown !== undefined) throw new Error(`no fault and no room is named ${unknown}`);
  return faults.filter((fault) => words.length === 0 || isNamed(fault));
};
