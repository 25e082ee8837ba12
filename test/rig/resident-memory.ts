import { readFileSync } from "node:fs";

const bytesPerKib = 1_024;

/**
 * Returns a process's resident memory in bytes, as Linux counts it. Throws if the process has
 * exited.
 */
export const readResidentBytes = (pid: number): number => readStatusBytes(pid, "VmRSS");

/**
 * Returns a process's anonymous resident memory in bytes. Throws if the process has exited. The
 * rest of the resident memory consists of pages of program files, which the kernel can drop before
 * a pod reaches its limit.
 */
export const readAnonymousBytes = (pid: number): number => readStatusBytes(pid, "RssAnon");

const readStatusBytes = (pid: number, field: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * bytesPerKib;
};

const sampleMs = 50;

/** Measures a process's memory until `stop` is called. `stop` returns the maximum. */
export const watchMemory = (
  pid: number,
  readMemoryBytes: (pid: number) => number = readResidentBytes,
) => {
  let maxBytes = readMemoryBytes(pid);
  const timer = setInterval(() => {
    try {
      maxBytes = Math.max(maxBytes, readMemoryBytes(pid));
    } catch {
      // The process has exited. The code that waits for it reports this.
      clearInterval(timer);
    }
  }, sampleMs);
  return {
    stop: (): number => {
      clearInterval(timer);
      return maxBytes;
    },
  };
};
