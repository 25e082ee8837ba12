import { readFileSync, readdirSync } from "node:fs";

const msPerTick = 10;

/**
 * The fields of `/proc/<pid>/stat` behind the name, which may contain blanks; undefined once the
 * process is gone.
 */
const readStat = (pid: number): string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
};

const parentField = 1;
const ownFields = [11, 12] as const;
const reapedFields = [13, 14] as const;

const sumMs = (stat: string[] | undefined, fields: readonly number[]): number =>
  fields.reduce((sum, field) => sum + Number(stat?.[field] ?? 0) * msPerTick, 0);

/** CPU time that a process has used so far, all its threads, in milliseconds. */
export const cpuMsOf = (pid: number): number => sumMs(readStat(pid), ownFields);

/** The same for a process and its children, including those that have ended. */
export const cpuMsOfTree = (pid: number): number => {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => Number(stat?.[parentField]) === pid);
  const living = children.reduce((sum, stat) => sum + sumMs(stat, ownFields), 0);
  return living + sumMs(readStat(pid), [...ownFields, ...reapedFields]);
};

/** Which process started another. */
export const parentOf = (pid: number): number => {
  const stat = readStat(pid);
  if (stat === undefined) throw new Error(`there is no process ${pid} on this machine`);
  return Number(stat[parentField]);
};
