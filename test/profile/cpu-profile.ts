import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { basename, join, resolve } from "node:path";

/*
 * Loaded before a service by `node --import`, in no other process: the first SIGUSR2 begins a CPU
 * profile, the second ends and writes it. So starting up is not in it.
 */
const session = new Session();
let isRunning = false;

const toggle = async (): Promise<void> => {
  if (!isRunning) {
    isRunning = true;
    session.connect();
    await session.post("Profiler.enable");
    return session.post("Profiler.start");
  }
  const { profile } = await session.post("Profiler.stop");
  // services/<name>/src/main.ts
  const service = basename(resolve(process.argv[1] ?? "", "../.."));
  const path = join(
    process.env["PROFILE_DIRECTORY"] ?? ".",
    `${service}-${process.pid}.cpuprofile`,
  );
  writeFileSync(`${path}.part`, JSON.stringify(profile));
  renameSync(`${path}.part`, path);
};

process.on("SIGUSR2", () => void toggle());
