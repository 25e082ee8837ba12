import {
  ConfigError,
  crashOnUncaught,
  createStopList,
  openLog,
  waitForEachAddress,
} from "@payment-links/runtime";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { PortTakenError } from "@payment-links/http";
import { startAllInOne } from "./all-in-one.ts";
import { readOptions } from "./options.ts";
import { PostgresInUseError } from "./embedded-postgres.ts";

const options = readOptions(process.argv.slice(2));
if ("fault" in options) {
  process.stderr.write(`${options.fault}\n`);
  process.exit(2);
}
const log = openLog({ service: "all-in-one", level: process.env["LOG_LEVEL"] || "info" });
const stopList = createStopList();
crashOnUncaught(log);
waitForEachAddress();

try {
  await ensureConsoleBuilt({
    env: process.env,
    report: (line) => process.stderr.write(`${line}\n`),
  });
  await startAllInOne({
    environment: process.env,
    withDevnet: options.withDevnet,
    stopList,
    log,
    say: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  // What a stop takes away under a start is no fault of the start.
  if (stopList.isStopping()) {
    await stopList.stopAll(log);
    process.exit(0);
  }
  const isPlain =
    error instanceof ConfigError ||
    error instanceof PortTakenError ||
    error instanceof PostgresInUseError;
  if (isPlain) process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, "the service could not start");
  await stopList.stopAll(log);
  process.exit(isPlain ? 2 : 1);
}
