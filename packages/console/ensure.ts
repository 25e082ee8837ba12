// Run by `npm test`: builds the console if the build is missing or outdated.
import { ensureConsoleBuilt } from "./src/ensure-built.ts";

await ensureConsoleBuilt({
  env: process.env,
  report: (line) => process.stderr.write(`${line}\n`),
});
