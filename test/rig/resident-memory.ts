import { readFileSync } from "node:fs";

const bytesPerKib = 1_024;

/**
 * How much of a process's memory is in RAM now, in bytes, as Linux counts it; throws once the
 * process is gone.
 */
export const residentBytesOf = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * bytesPerKib;
};

const sampleMs = 50;

/** Keeps measuring how much memory a process has; when stopped, answers the most it had. */
export const watchResidentMemory = (pid: number) => {
  let most = residentBytesOf(pid);
  const timer = setInterval(() => {
    try {
      most = Math.max(most, residentBytesOf(pid));
    } catch {
      // The process is gone: whoever waits for it will report that.
      clearInterval(timer);
    }
  }, sampleMs);
  return {
    stop: (): number => {
      clearInterval(timer);
      return most;
    },
  };
};
