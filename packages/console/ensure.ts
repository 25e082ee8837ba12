// `npm test` runs it: builds the console if that is not there, or not of these sources.
import { ensureConsoleBuilt } from "./src/ensure-built.ts";

await ensureConsoleBuilt({
  env: process.env,
  report: (line) => process.stderr.write(`${line}\n`),
});
