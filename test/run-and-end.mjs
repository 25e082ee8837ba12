// `node test/run-and-end.mjs SCRIPT [ARGUMENTS]`: runs a script on Node 24, installing what is missing, and
// ends with it all that it started: on a signal too, and where Postgres is in a session of its own.
import { chmod, mkdtemp } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled } from "../deploy/node24.mjs";
import { endWhatIsLeft, interruptedBy, start } from "./children.mjs";

await ensureInstalled();
// What is left is known by it: a database works in a folder below.
const directory = await mkdtemp(join(tmpdir(), "payment-links-apart-"));
await chmod(directory, 0o711);
try {
  const env = { ...process.env, TMPDIR: directory };
  const code = await start(process.argv.slice(2), { env, stdio: "inherit" }).gone;
  process.exitCode = interruptedBy() ? 128 + constants.signals[interruptedBy()] : (code ?? 1);
} finally {
  await endWhatIsLeft(directory);
}
