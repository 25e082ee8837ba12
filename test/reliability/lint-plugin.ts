import {
  type Finder,
  type Node,
  findFixedWaits,
  findSharedResources,
  findShortLimits,
  findSpeedComparisons,
} from "./find-faults.ts";

type Context = { report(fault: { node: Node; message: string }): void };

const ruleOf = (find: Finder) => ({
  create: (context: Context) => ({
    Program: (program: Node) => {
      for (const fault of find(program)) context.report(fault);
    },
  }),
});

/** Keeps tests from depending on the speed of the machine and on other tests. */
export default {
  meta: { name: "reliability" },
  rules: {
    "no-fixed-wait": ruleOf(findFixedWaits),
    "no-speed-comparison": ruleOf(findSpeedComparisons),
    "no-short-limit": ruleOf(findShortLimits),
    "no-shared-resource": ruleOf(findSharedResources),
  },
};
