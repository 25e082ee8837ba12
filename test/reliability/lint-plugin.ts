import {
  type Finder,
  type Node,
  findFixedWaits,
  findSharedResources,
  findShortLimits,
  findSpeedComparisons,
} from "./find-faults.ts";

type Context = { report(problem: { node: Node; message: string }): void };

const createRule = (findFaults: Finder) => ({
  create: (context: Context) => ({
    Program: (program: Node) => {
      for (const problem of findFaults(program)) context.report(problem);
    },
  }),
});

/** Prevents tests from depending on the speed of the machine and on other tests. */
export default {
  meta: { name: "reliability" },
  rules: {
    "no-fixed-wait": createRule(findFixedWaits),
    "no-speed-comparison": createRule(findSpeedComparisons),
    "no-short-limit": createRule(findShortLimits),
    "no-shared-resource": createRule(findSharedResources),
  },
};
