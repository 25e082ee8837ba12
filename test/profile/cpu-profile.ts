import { basename, join, resolve } from "node:path";
import { recordProfile } from "./record-profile.ts";

/*
 * Loaded before a service by `node --import`. The first SIGUSR2 starts a CPU profile. The second
 * stops and writes it. The profile excludes startup.
 */
let profileEnd: ReturnType<typeof recordProfile> | undefined;

const toggle = async (): Promise<void> => {
  if (profileEnd === undefined) {
    profileEnd = recordProfile();
    return;
  }
  // services/<name>/src/main.ts
  const service = basename(resolve(process.argv[1] ?? "", "../.."));
  const name = `${service}-${process.pid}.cpuprofile`;
  const endProfile = await profileEnd;
  await endProfile(join(process.env["PROFILE_DIRECTORY"] ?? ".", name));
};

process.on("SIGUSR2", () => void toggle());
