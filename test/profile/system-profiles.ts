import { existsSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "@payment-links/runtime/testing";
import type { RealSystem } from "../rig/real-system.ts";

/** With these variables each process of a system can be profiled. */
export const createProfilingEnv = (directory: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=${import.meta.resolve("./cpu-profile.ts")}`,
  PROFILE_DIRECTORY: directory,
});

/** Where a process of a system is told of in tables and files. */
export const replicaName = (replica: RealSystem["replicas"][number]): string =>
  `${replica.service}-${replica.pid()}`;

/** Begins a CPU profile of each process of a system; what it answers ends them, and says where they are. */
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
