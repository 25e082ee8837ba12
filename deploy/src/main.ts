import {
  ConfigError,
  exitOnUncaughtError,
  createStopList,
  createLog,
  setConnectAttemptTimeout,
} from "@payment-links/runtime";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { ensureDocsBuilt } from "@payment-links/docs/ensure-built";
import { PortInUseError } from "@payment-links/http";
import { startAllInOne } from "./all-in-one.ts";
import { parseOptions } from "./options.ts";
import { PostgresInUseError } from "./embedded-postgres.ts";

const options = parseOptions(process.argv.slice(2));
if ("fault" in options) {
  process.stderr.write(`${options.fault}\n`);
  process.exit(2);
}
const log = createLog({ service: "all-in-one", level: process.env["LOG_LEVEL"] || "info" });
const stopList = createStopList();
exitOnUncaughtError(log);
setConnectAttemptTimeout();

try {
  const buildOptions = {
    env: process.env,
    report: (line: string) => process.stderr.write(`${line}\n`),
  };
  await ensureConsoleBuilt(buildOptions);
  await ensureDocsBuilt(buildOptions);
  await startAllInOne({
    environment: process.env,
    isDevnetEnabled: options.isDevnetEnabled,
    stopList,
    log,
    printLine: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  // If the process is stopped while it starts, the start fails. This is not an error.
  if (stopList.isStopping()) {
    await stopList.stopAll(log);
    process.exit(0);
  }
  const isExpectedError =
    error instanceof ConfigError ||
    error instanceof PortInUseError ||
    error instanceof PostgresInUseError;
  if (isExpectedError) process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, "service could not start");
  await stopList.stopAll(log);
  process.exit(isExpectedError ? 2 : 1);
}
