/**
 * Calls a function with a signal that aborts after `ms` milliseconds, or with the given signal.
 * `AbortSignal.any` is not used, because on Node 20 it leaks memory with each call until the given
 * signal is released.
 */
export const withDeadline = async <Result>(
  signal: AbortSignal | null | undefined,
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`no response within ${ms} ms`, "TimeoutError"));
  }, ms);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
};
