type ResponseCounts = { windowIndex: number; count: number; previousCount: number };

/** How many answers came lately, by endpoint and in all. */
export type ResponseRates = {
  /** The least recently answered first. */
  readonly endpoints: Map<string, ResponseCounts>;
  readonly all: ResponseCounts;
};

const windowMs = 200;

/** Answers are counted for as many endpoints; the least recently answered are forgotten first. */
const endpointsCountedMax = 1_000;

/** Makes the counts, all zero. */
export const createResponseRates = (): ResponseRates => ({
  endpoints: new Map(),
  all: createResponseCounts(),
});

/** Counts an answer of the endpoint. */
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

/** Answers of an endpoint in the last window. */
export const countRecentResponses = (
  rates: ResponseRates,
  endpointId: string,
  nowMs: number,
): number => {
  const counts = rates.endpoints.get(endpointId);
  return counts === undefined ? 0 : recentCount(counts, nowMs);
};

/** Answers of all endpoints in the last window. */
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
  // It is negative where the machine's clock was set back.
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
