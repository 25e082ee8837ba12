import { readFileSync, readdirSync } from "node:fs";
import type { Client } from "pg";

const msPerTick = 10;

type Stat = { name: string; fields: readonly string[] };

/**
 * Returns the program's name from `/proc/<pid>/stat`, which can contain spaces, and the fields
 * after it. Returns undefined if the process has exited.
 */
const readStat = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = text.lastIndexOf(")");
    return { name: text.slice(text.indexOf("(") + 1, end), fields: text.slice(end + 2).split(" ") };
  } catch {
    return undefined;
  }
};

const parentField = 1;
const ownFields = [11, 12] as const;
const reapedFields = [13, 14] as const;

const sumMs = (stat: Stat | undefined, fields: readonly number[]): number =>
  fields.reduce((sum, field) => sum + Number(stat?.fields[field] ?? 0) * msPerTick, 0);

/** Returns the CPU time that a process and all its threads have used so far, in milliseconds. */
export const readCpuMs = (pid: number): number => sumMs(readStat(pid), ownFields);

const switchesPattern = /^voluntary_ctxt_switches:\t(\d+)$/m;

/** Returns how often the threads of a process have waited so far, and so how often they woke up. */
export const countWakeUps = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
      return sum + Number(switchesPattern.exec(status)?.[1] ?? 0);
    }, 0);
  } catch {
    return 0;
  }
};

/** Lists the running children of a process with the names of their programs. */
export const listChildren = (parentPid: number): { pid: number; name: string }[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((entry) => {
      const [pid, stat] = [Number(entry), readStat(Number(entry))];
      const isChild = Number(stat?.fields[parentField]) === parentPid;
      return stat !== undefined && isChild ? [{ pid, name: stat.name }] : [];
    });

/**
 * Returns the CPU time of a process and its children in milliseconds. Includes children that have
 * exited.
 */
export const readCpuMsOfTree = (pid: number): number => {
  const livingMs = listChildren(pid).reduce((sum, child) => sum + readCpuMs(child.pid), 0);
  return livingMs + sumMs(readStat(pid), [...ownFields, ...reapedFields]);
};

/** Returns the process ID of the Postgres process whose children serve all connections. */
export const findPostgresPid = async (admin: Client): Promise<number> => {
  const { rows } = await admin.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const stat = readStat(rows[0]?.pid ?? -1);
  if (stat === undefined) throw new Error("Postgres does not run on this machine");
  return Number(stat.fields[parentField]);
};
