type ResponseCounts = { windowIndex: number; count: number; previousCount: number };

/** The number of recent responses, per endpoint and in total. */
export type ResponseRates = {
  /** The least recently responding endpoint comes first. */
  readonly endpoints: Map<string, ResponseCounts>;
  readonly all: ResponseCounts;
};

const windowMs = 200;

/**
 * The maximum number of endpoints for which responses are counted. The endpoint that has not
 * responded for the longest time is evicted first.
 */
const endpointsCountedMax = 1_000;

/** Creates counts that start at zero. */
export const createResponseRates = (): ResponseRates => ({
  endpoints: new Map(),
  all: createResponseCounts(),
});

/** Counts a response of the endpoint. */
export const countResponse = (rates: ResponseRates, endpointId: string, nowMs: number): void => {
  const { endpoints, all } = rates;
  const counts = endpoints.get(endpointId) ?? createResponseCounts();
  addResponse(counts, nowMs);
  endpoints.delete(endpointId);
  endpoints.set(endpointId, counts);
  addResponse(all, nowMs);
  if (endpoints.size <= endpointsCountedMax) return;
  const [oldestEndpointId] = endpoints.keys();
  if (oldestEndpointId !== undefined) endpoints.delete(oldestEndpointId);
};

/** Returns the number of responses of an endpoint in the last window. */
export const countRecentResponses = (
  rates: ResponseRates,
  endpointId: string,
  nowMs: number,
): number => {
  const counts = rates.endpoints.get(endpointId);
  return counts === undefined ? 0 : recentCount(counts, nowMs);
};

/** Returns the number of responses of all endpoints in the last window. */
export const countAllRecentResponses = ({ all }: ResponseRates, nowMs: number): number =>
  recentCount(all, nowMs);

const createResponseCounts = (): ResponseCounts => ({
  windowIndex: -1,
  count: 0,
  previousCount: 0,
});

const recentCount = (
  { windowIndex, count, previousCount }: ResponseCounts,
  nowMs: number,
): number => {
  const windowsElapsed = windowIndexAt(nowMs) - windowIndex;
  // Negative if the system clock was set back.
  if (windowsElapsed < 0 || windowsElapsed > 1) return 0;
  return windowsElapsed === 0 ? Math.max(count, previousCount) : count;
};

const addResponse = (counts: ResponseCounts, nowMs: number): void => {
  const windowsElapsed = windowIndexAt(nowMs) - counts.windowIndex;
  if (windowsElapsed !== 0) {
    counts.windowIndex += windowsElapsed;
    counts.previousCount = windowsElapsed === 1 ? counts.count : 0;
    counts.count = 0;
  }
  counts.count += 1;
};

const windowIndexAt = (nowMs: number): number => Math.floor(nowMs / windowMs);
