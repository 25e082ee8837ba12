import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import * as z from "zod";

/** The CPU time of a process, and its share by package in descending order. */
export type CpuShares = {
  process: string;
  busyMs: number;
  packages: readonly { packageName: string; percent: number }[];
};

/**
 * V8's profile format. The time delta in microseconds at each index precedes the sample at that
 * index.
 */
const Profile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
    }),
  ),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
});

/** Parses a `.cpuprofile` and adds up the self time of each package. */
export const readCpuShares = async (path: string): Promise<CpuShares> => {
  const profile = Profile.parse(JSON.parse(await readFile(path, "utf8")));
  const packageByNodeId = new Map(
    profile.nodes.map(({ id, callFrame }) => [id, findPackageName(callFrame)]),
  );
  const msByPackage = new Map<string, number>();
  for (const [index, id] of profile.samples.entries()) {
    const packageName = packageByNodeId.get(id) ?? "unknown";
    const ms = (profile.timeDeltas[index + 1] ?? 0) / 1_000;
    msByPackage.set(packageName, (msByPackage.get(packageName) ?? 0) + ms);
  }
  msByPackage.delete(idleName);
  const busyMs = [...msByPackage.values()].reduce((sum, ms) => sum + ms, 0);
  return {
    process: basename(path, ".cpuprofile"),
    busyMs: Math.round(busyMs),
    packages: [...msByPackage]
      .toSorted(([, firstMs], [, secondMs]) => secondMs - firstMs)
      .map(([packageName, ms]) => ({
        packageName,
        percent: Number(((100 * ms) / busyMs).toFixed(1)),
      })),
  };
};

const idleName = "idle";

/** Returns one of our packages, a dependency, `node`, or a V8 activity. */
const findPackageName = ({ functionName, url }: { functionName: string; url: string }): string => {
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (dependency !== undefined) return dependency;
  const ownPackage = /\/((?:packages|services)\/[^/]+|test|deploy)\//.exec(url)?.[1];
  if (ownPackage !== undefined) return ownPackage;
  if (url.startsWith("node:")) return "node";
  // V8's entries without JavaScript code: (idle), (program), which is native code, and (garbage
  // collector).
  return /^\((.+)\)$/.exec(functionName)?.[1] ?? "built-ins";
};
