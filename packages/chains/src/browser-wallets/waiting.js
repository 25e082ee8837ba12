const timeoutMsDefault = 15_000;

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Rejects with `error` if a promise takes too long, for example because a node never responds. */
export const withTimeout = (
  promise,
  milliseconds = timeoutMsDefault,
  error = new Error("no answer"),
) => {
  const timeout = sleep(milliseconds).then(() => {
    throw error;
  });
  return Promise.race([promise, timeout]);
};
