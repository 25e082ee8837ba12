import { existsSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "@payment-links/runtime/testing";
import type { RealSystem } from "../rig/real-system.ts";

/** Returns the environment variables that enable CPU profiles in each process of a system. */
export const createProfilingEnv = (directory: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=${import.meta.resolve("./cpu-profile.ts")}`,
  PROFILE_DIRECTORY: directory,
});

/** Returns the name of a process in tables and files. */
export const replicaName = (replica: RealSystem["replicas"][number]): string =>
  `${replica.service}-${replica.pid()}`;

/**
 * Starts a CPU profile of each process of a system. Returns a function that stops the profiles and
 * returns their paths.
 */
export const startProfiling = (
  { replicas }: RealSystem,
  directory: string,
): (() => Promise<string[]>) => {
  const toggle = (): void => {
    for (const replica of replicas) process.kill(replica.pid(), "SIGUSR2");
  };
  toggle();
  return async () => {
    toggle();
    const paths = replicas.map((replica) => join(directory, `${replicaName(replica)}.cpuprofile`));
    await waitUntil("CPU profiles are written", () => paths.every((path) => existsSync(path)));
    return paths;
  };
};
