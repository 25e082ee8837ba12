/**
 * Returns the processor time that this thread spends on the work, in milliseconds. Other processes do
 * not add to it, so a test may bound it.
 */
export const cpuMsOf = (work: () => void): number => {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
};
