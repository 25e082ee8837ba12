/**
 * Returns the processor time that this thread spends on the work, in milliseconds. Other processes do
 * not add to it, so a test may bound it.
 */
export const measureCpuMs = (work: () => void): number => {
  const startUsage = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(startUsage);
  return (user + system) / 1_000;
};
