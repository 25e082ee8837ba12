import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { basename, join, resolve } from "node:path";

/*
 * Loaded before a service by `node --import`. The first SIGUSR2 starts a CPU profile. The second
 * stops and writes it. The profile excludes startup.
 */
let started: Promise<Session> | undefined;

const startProfile = async (): Promise<Session> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  return session;
};

const writeProfile = async (session: Session): Promise<void> => {
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  // services/<name>/src/main.ts
  const service = basename(resolve(process.argv[1] ?? "", "../.."));
  const name = `${service}-${process.pid}.cpuprofile`;
  const path = join(process.env["PROFILE_DIRECTORY"] ?? ".", name);
  // Writes to another name first and then renames the file, so that its reader never sees a partial
  // file.
  writeFileSync(`${path}.part`, JSON.stringify(profile));
  renameSync(`${path}.part`, path);
};

process.on("SIGUSR2", () => {
  if (started === undefined) started = startProfile();
  else void started.then(writeProfile);
});
