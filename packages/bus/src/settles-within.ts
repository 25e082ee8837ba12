/** Returns whether a promise settles within the timeout. */
export const settlesWithin = async (
  promise: Promise<unknown>,
  timeoutMs: number,
): Promise<boolean> => {
  const { promise: timedOut, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const settledPromise = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settledPromise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};
