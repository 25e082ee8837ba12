import { readFileSync } from "node:fs";

const bytesPerKib = 1_024;

/** Memory of a process that is in RAM now, in bytes, as Linux counts it; throws once it is gone. */
export const residentBytesOf = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * bytesPerKib;
};

const sampleMs = 50;

/**
 * Looks again and again at how much memory a process has; answers the most it had until stopped.
 */
export const watchResidentMemory = (pid: number) => {
  let most = residentBytesOf(pid);
  const timer = setInterval(() => {
    try {
      most = Math.max(most, residentBytesOf(pid));
    } catch {
      // It is gone: whoever waits for it will say so.
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
