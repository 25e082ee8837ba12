// `npm run generate` runs it: draws the README's pictures of the rooms again.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { updateDependencyCharts } from "./dependency-chart.ts";

const readme = join(projectRoot, "README.md");
writeFileSync(readme, updateDependencyCharts(readFileSync(readme, "utf8")));
