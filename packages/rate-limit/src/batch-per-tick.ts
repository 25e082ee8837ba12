import DataLoader from "dataloader";

type BatchOptions<Request, Result> = {
  /** Sends several requests together and returns one result per request. */
  runBatch: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** More requests than this are split into several batches. */
  batchSizeMax: number;
  timeoutMs: number;
};

/**
 * Batches all requests of one event-loop turn, because under load the Redis command costs more than
 * the rest of a request. A result rejects after `timeoutMs`. The time starts when the batch is
 * sent.
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
  const rejectWithTimeout = () => timeout.reject(new Error(`no response within ${timeoutMs} ms`));
  // If this process was busy, the reply may already wait in the socket, which is read before an
  // immediate runs.
  const timer = setTimeout(() => setImmediate(rejectWithTimeout), timeoutMs);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};
