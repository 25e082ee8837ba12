import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

/** Begins a CPU profile of this process; what it answers ends it and writes it to a file. */
export const recordProfile = async (): Promise<(path: string) => Promise<void>> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  return async (path) => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    // Whoever waits for the file finds all of it.
    writeFileSync(`${path}.part`, JSON.stringify(profile));
    renameSync(`${path}.part`, path);
  };
};
