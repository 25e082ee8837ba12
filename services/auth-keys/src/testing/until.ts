const untilMsMax = 10_000;

/** Waits for a condition, asked again and again, for ten seconds at most. */
export const until = async (isTrue: () => Promise<boolean> | boolean): Promise<void> => {
  const endAtMs = Date.now() + untilMsMax;
  while (!(await isTrue())) {
    if (Date.now() > endAtMs) throw new Error("the condition did not come true in time");
    // Gives way to sockets and timers.
    await new Promise((resolve) => void setImmediate(resolve));
  }
};
