import DataLoader from "dataloader";

type BatchOptions<Request, Result> = {
  /** Sends several requests together and returns one result per request. */
  runBatch: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** The maximum size of a batch. More requests are split into several batches. */
  batchSizeMax: number;
  timeoutMs: number;
};

/**
 * Batches all requests of one event-loop turn, because under load a Redis command costs more than
 * the rest of a request. Rejects a request if its batch has no result `timeoutMs` after it was
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
  // If this process was busy, the reply may already be in the socket. The event loop reads sockets
  // before it runs immediates.
  const timer = setTimeout(() => setImmediate(rejectWithTimeout), timeoutMs);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};
