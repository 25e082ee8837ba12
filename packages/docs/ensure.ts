// Builds the docs if the build is missing or outdated. `npm test` runs it.
import { ensureDocsBuilt } from "./src/ensure-built.ts";

await ensureDocsBuilt({
  env: process.env,
  report: (line) => process.stderr.write(`${line}\n`),
});
