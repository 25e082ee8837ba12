import DataLoader from "dataloader";

type BatchOptions<Request, Result> = {
  /** Asks several things at once; answers one thing for each. */
  runBatch: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** More than these are asked as several. */
  batchSizeMax: number;
  timeoutMs: number;
};

/**
 * Asks all questions of one turn of the event loop as one: under load a command per question costs more than
 * everything else about it. An answer rejects if it does not come in time. The time counts from when they are
 * asked, because nothing is under way before.
 */
export const batchPerTick = <Request, Result>({
  runBatch,
  batchSizeMax,
  timeoutMs,
}: BatchOptions<Request, Result>): ((request: Request) => Promise<Result>) => {
  const loader = new DataLoader<Request, Result>(
    (requests) => withTimeout(runBatch(requests), timeoutMs),
    {
      cache: false,
      maxBatchSize: batchSizeMax,
      batchScheduleFn: (dispatchBatch) => setImmediate(dispatchBatch),
    },
  );
  return (request) => loader.load(request);
};

const withTimeout = async <Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> => {
  const timeout = Promise.withResolvers<never>();
  const rejectWithTimeout = () =>
    timeout.reject(new Error(`there was no answer within ${timeoutMs} ms`));
  // If this process was the busy one, the answer may lie in the socket, which is read before an immediate runs.
  const timer = setTimeout(() => setImmediate(rejectWithTimeout), timeoutMs);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};
