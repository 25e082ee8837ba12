/**
 * A module that a service's process loads first (`node --import`). It sends the peak heap in bytes
 * to the process that started it.
 */
const intervalMs = 10;
let peakBytes = 0;
setInterval(() => {
  const { heapUsed } = process.memoryUsage();
  if (heapUsed <= peakBytes) return;
  peakBytes = heapUsed;
  process.send?.(peakBytes);
}, intervalMs).unref();
