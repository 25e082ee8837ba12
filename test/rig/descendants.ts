import { readFile, readdir } from "node:fs/promises";

/** Returns the IDs of a process's descendants with the given name. */
export const listDescendants = async (pid: number, name: string): Promise<number[]> => {
  const parents = new Map<number, { parent: number; name: string }>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // A process can exit before its status is read.
    const status = await readFile(`/proc/${entry}/status`, "utf8").catch(() => "");
    const parent = /^PPid:\s*(\d+)$/m.exec(status)?.[1];
    if (parent === undefined) continue;
    parents.set(Number(entry), {
      parent: Number(parent),
      name: /^Name:\s*(.*)$/m.exec(status)?.[1] ?? "",
    });
  }
  const isDescendant = (childPid: number): boolean => {
    const parentPid = parents.get(childPid)?.parent;
    return (
      parentPid !== undefined && parentPid !== 0 && (parentPid === pid || isDescendant(parentPid))
    );
  };
  return [...parents]
    .filter(([childPid, processInfo]) => processInfo.name === name && isDescendant(childPid))
    .map(([childPid]) => childPid);
};
