// `node test/run-and-end.mjs SCRIPT [ARGUMENTS]`: runs a script and then terminates every process
// that it started. It also does this after a signal, and it also terminates a Postgres server in a
// session of its own.
import { getExitCode, withTemporaryDirectory, startNode } from "./children.mjs";

await withTemporaryDirectory("payment-links-apart-", async ({ env }) => {
  const exitCode = await startNode(process.argv.slice(2), { env, stdio: "inherit" }).exited;
  process.exitCode = getExitCode(exitCode ?? 1);
});
