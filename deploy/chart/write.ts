// Writes the generated files of the chart. Run with `npm run generate`.
import { writeFileSync } from "node:fs";
import { chartFiles, chartFolder } from "./chart-files.ts";

for (const [path, text] of chartFiles) writeFileSync(new URL(path, chartFolder), text);
