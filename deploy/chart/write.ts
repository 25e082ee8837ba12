// `npm run generate` runs it: writes the chart's files that are made from sources in this folder.
import { writeFileSync } from "node:fs";
import { chartFiles, chartFolder } from "./chart-files.ts";

for (const [path, text] of chartFiles) writeFileSync(new URL(path, chartFolder), text);
