// `node test/run-and-end.mjs SCRIPT [ARGUMENTS]`: runs a script, and ends with it all that it started:
// on a signal too, and where Postgres is in a session of its own.
import { exitCodeOf, inOwnDirectory, start } from "./children.mjs";

await inOwnDirectory("payment-links-apart-", async ({ env }) => {
  const code = await start(process.argv.slice(2), { env, stdio: "inherit" }).gone;
  process.exitCode = exitCodeOf(code ?? 1);
});
