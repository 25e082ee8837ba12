// `npm run generate` runs this script. It updates the dependency charts in the README and in
// CONTRIBUTING.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { updateDependencyCharts } from "./dependency-chart.ts";

for (const page of ["README.md", ".github/CONTRIBUTING.md"]) {
  const path = join(projectRoot, page);
  writeFileSync(path, updateDependencyCharts(readFileSync(path, "utf8")));
}
