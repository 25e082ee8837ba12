import { readFile, readdir } from "node:fs/promises";

/** The processes that a process has started, and those that they have, by their name. */
export const listDescendants = async (pid: number, name: string): Promise<number[]> => {
  const parents = new Map<number, { parent: number; name: string }>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // A process may end while it is looked at.
    const status = await readFile(`/proc/${entry}/status`, "utf8").catch(() => "");
    const parent = /^PPid:\s*(\d+)$/m.exec(status)?.[1];
    if (parent === undefined) continue;
    parents.set(Number(entry), {
      parent: Number(parent),
      name: /^Name:\s*(.*)$/m.exec(status)?.[1] ?? "",
    });
  }
  const isBelow = (one: number): boolean => {
    const above = parents.get(one)?.parent;
    return above !== undefined && above !== 0 && (above === pid || isBelow(above));
  };
  return [...parents].filter(([one, of]) => of.name === name && isBelow(one)).map(([one]) => one);
};
