// Builds the console if the build is missing or outdated. `npm test` runs it.
import { ensureConsoleBuilt } from "./src/ensure-built.ts";

await ensureConsoleBuilt({
  env: process.env,
  report: (line) => process.stderr.write(`${line}\n`),
});
