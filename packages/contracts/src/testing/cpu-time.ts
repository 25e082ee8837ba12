/**
 * Returns the CPU time that this thread spends on the work, in milliseconds. Other processes do not
 * affect it, which makes it suitable for limits in tests.
 */
export const measureCpuMs = (work: () => void): number => {
  const startUsage = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(startUsage);
  return (user + system) / 1_000;
};
