import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

/**
 * Starts a CPU profile of this process. Returns a function that stops it and writes it to a file.
 */
export const recordProfile = async (): Promise<(path: string) => Promise<void>> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  return async (path) => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    // Writes to another name first and then renames the file, so that its reader never sees a
    // partial file.
    writeFileSync(`${path}.part`, JSON.stringify(profile));
    renameSync(`${path}.part`, path);
  };
};
