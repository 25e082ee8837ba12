import { basename, join, resolve } from "node:path";
import { recordProfile } from "./record-profile.ts";

/*
 * Loaded before a service by `node --import`, in no other process: the first SIGUSR2 begins a CPU
 * profile, the second ends and writes it. So starting up is not in it.
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
