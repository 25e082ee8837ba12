#!/usr/bin/env node
import { hostname } from "node:os";
import { systemRuntime } from "../runtime.ts";
import { runCommand } from "./run-command.ts";

const interruption = new AbortController();
const interrupt = () => {
  // A second Ctrl-C ends the program immediately.
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", interrupt);
  interruption.abort(new Error("interrupted"));
};
process.on("SIGINT", interrupt);
process.on("SIGTERM", interrupt);
// The reader of a pipe has ended, as in `payment-links links list | head -1`.
process.stdout.on("error", () => process.exit());

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  printNote: (line) => void process.stderr.write(`${line}\n`),
  signal: interruption.signal,
  now: () => new Date(),
  wait: (ms, signal) => systemRuntime.wait(ms, signal),
  random: () => Math.random(),
  hostName: hostname(),
});
process.off("SIGINT", interrupt);
process.off("SIGTERM", interrupt);
