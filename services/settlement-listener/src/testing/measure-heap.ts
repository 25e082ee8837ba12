/**
 * A module that Node.js loads before a service's own code (`node --import`). It reports the peak
 * heap in bytes to the parent process.
 */
const intervalMs = 10;
let peakBytes = 0;
setInterval(() => {
  const { heapUsed } = process.memoryUsage();
  if (heapUsed <= peakBytes) return;
  peakBytes = heapUsed;
  process.send?.(peakBytes);
}, intervalMs).unref();
