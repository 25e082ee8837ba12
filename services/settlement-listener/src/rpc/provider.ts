import { hashSecret } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import { formatProviderName } from "../domain/provider-checks.ts";
import { chunk } from "./chunk.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import {
  type RpcResult,
  BatchRejectedError,
  type JsonRpcClient,
  type RpcRequest,
  createJsonRpcClient,
} from "./json-rpc.ts";
import type { Dialect } from "./dialect.ts";
import { type RangeLimit, createRangeLimit } from "./range-limit.ts";
import { RpcFault } from "./rpc-fault.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";

export type Provider = {
  /**
   * `rpc-1`, `rpc-2` and so on, in configuration order. Used instead of the URL, which is a secret.
   */
  name: string;
  /** A hash of the URL. It does not depend on the position in the configuration. */
  id: string;
  circuitBreaker: CircuitBreaker;
  range: RangeLimit;
  /**
   * Sends requests and returns their results in order. Throws {@link RpcFault} if one of them
   * failed.
   */
  request<const Requests extends readonly RpcRequest[]>(
    requests: Requests,
  ): Promise<Values<Requests>>;
  /**
   * Sends any number of requests of one kind, like `request`. If the results are too large for one
   * response, sends fewer requests at a time, down to one.
   */
  requestMany<T>(requests: readonly RpcRequest<T>[]): Promise<T[]>;
  /** Sends requests and returns a result or a fault for each. */
  requestEach<T>(requests: readonly RpcRequest<T>[]): Promise<RpcResult<T>[]>;
  /**
   * Sends requests like {@link Provider.requestEach}, and in parts like {@link
   * Provider.requestMany}.
   */
  requestEachInParts<T>(requests: readonly RpcRequest<T>[]): Promise<RpcResult<T>[]>;
  /**
   * Returns the chain that the provider serves, even if it is the wrong one. All other methods fail
   * on the wrong chain.
   */
  fetchChain(): Promise<string>;
};

type Values<Requests extends readonly RpcRequest[]> = {
  -readonly [K in keyof Requests]: Requests[K] extends RpcRequest<infer T> ? T : never;
};

/** Timeouts and retry limits. */
export type RpcTiming = {
  /** The time limit of one HTTP request, including the response body. */
  timeoutMs: number;
  /** The first cooldown of a provider after failures or a rate limit. */
  cooldownMs: number;
  cooldownMsMax: number;
  /** The time after which a call to a reader starts no further attempt. */
  failoverMsMax: number;
};

export type ProviderOptions = {
  chainId: string;
  dialect: Dialect;
  index: number;
  url: string;
  rangeBlocksMax: number;
  timing: RpcTiming;
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  closing: AbortSignal;
};

const idLength = 16;
const callsPerRequestMax = 100;
const requestsAtOnceMax = 4;
const singleRequestsAtOnceMax = 4;
const batchesDisabledMs = 10 * 60_000;
const chainCheckTtlMs = 60_000;

/** Creates a provider. Sends no request yet. */
export const createProvider = (options: ProviderOptions): Provider => {
  const { chainId, clock, dialect, log, metrics, timing } = options;
  const name = formatProviderName(options.index);
  const label = { chain: chainId, provider: name };
  const { sendAll, sendInParts } = createRequestSender(
    createJsonRpcClient({ ...options, ...timing, ...dialect }),
    options,
    name,
  );
  let chainCheckedUntilMs = clock.elapsedMs();
  metrics.setCircuitOpen(label, false);

  const fetchChain = async () => {
    const [chain] = unwrapAll(await sendAll([dialect.chainRequest]));
    if (chain === dialect.chainName) chainCheckedUntilMs = clock.elapsedMs() + chainCheckTtlMs;
    return chain ?? "";
  };

  // The node behind a URL can change, for example if it is a proxy or the node is reinstalled.
  const assertExpectedChain = async () => {
    if (clock.elapsedMs() < chainCheckedUntilMs) return;
    const servedChain = await fetchChain().catch(rethrowAsUnreachable);
    if (servedChain === dialect.chainName) return;
    metrics.countDisagreement(chainId, "wrong_chain");
    log.error(
      { chain: chainId, provider: name, found: servedChain },
      "RPC provider serves a different chain",
    );
    throw new RpcFault("invalid", "serves another chain", timing.cooldownMsMax);
  };

  const withChainCheck =
    (sendRequests: JsonRpcClient): JsonRpcClient =>
    async (requests) => {
      try {
        await assertExpectedChain();
        return await sendRequests(requests);
      } catch (error) {
        chainCheckedUntilMs = clock.elapsedMs();
        throw error;
      }
    };
  const requestEach = withChainCheck(sendAll);
  const requestInParts = withChainCheck(sendInParts);

  return {
    name,
    id: hashSecret(options.url).toString("hex").slice(0, idLength),
    range: createRangeLimit(options.rangeBlocksMax),
    circuitBreaker: createCircuitBreaker({
      clock,
      cooldownMs: timing.cooldownMs,
      cooldownMsMax: timing.cooldownMsMax,
      probeMsMax: timing.timeoutMs,
      onChange: (isOpen) => {
        metrics.setCircuitOpen(label, isOpen);
        if (isOpen) log.warn(label, "RPC provider failing, pausing requests");
        else log.info(label, "RPC provider recovered");
      },
    }),
    requestEach,
    requestEachInParts: requestInParts,
    requestMany: async (requests) => unwrapAll(await requestInParts(requests)),
    // Each request's parser returned its value, in the order of the requests, so the types match.
    request: async (requests) => unwrapAll(await requestEach(requests)) as Values<typeof requests>,
    fetchChain,
  };
};

// The chain check is small. If it times out, the actual request is not too large, so a smaller one
// would not help.
const rethrowAsUnreachable = (error: unknown): never => {
  const isTimeout = error instanceof RpcFault && error.kind === "timeout";
  throw isTimeout ? new RpcFault("unreachable", error.message) : error;
};

const unwrapAll = <T>(results: readonly RpcResult<T>[]): T[] =>
  results.map((result) => {
    if ("fault" in result) throw result.fault;
    return result.value;
  });

/**
 * Splits requests into batches that the provider accepts, sends a few batches at a time, and counts
 * each HTTP request. `sendInParts` also repeats requests whose results were too large, in smaller
 * batches.
 */
const createRequestSender = (
  jsonRpc: JsonRpcClient,
  { chainId, clock, metrics }: ProviderOptions,
  provider: string,
): { sendAll: JsonRpcClient; sendInParts: JsonRpcClient } => {
  let batchesDisabledUntilMs = clock.elapsedMs();
  const sendCounted = withRequestCount(jsonRpc, metrics, { chain: chainId, provider });

  const sendChunk: JsonRpcClient = async (requests) => {
    try {
      return await sendCounted(requests);
    } catch (error) {
      if (!(error instanceof BatchRejectedError)) throw error;
      batchesDisabledUntilMs = clock.elapsedMs() + batchesDisabledMs;
      return sendSingly(requests);
    }
  };

  const sendSingly: JsonRpcClient = async (requests) => {
    const results = [];
    for (const group of chunk(requests, singleRequestsAtOnceMax)) {
      const pendingResults = group.map(async (singleRequest) => sendCounted([singleRequest]));
      results.push(...(await Promise.all(pendingResults)).flat());
    }
    return results;
  };

  /**
   * Sends a batch. If the response to the whole batch is too large, returns that fault for each
   * request.
   */
  const sendWithRangeFaults: JsonRpcClient = (requests) =>
    sendChunk(requests).catch((error: unknown) => {
      if (!(error instanceof RpcFault) || error.kind !== "range") throw error;
      return requests.map(() => ({ fault: error }));
    });

  /**
   * Repeats the requests whose results were too large, in smaller batches, one batch after another.
   */
  const resendOversized = async <T>(
    requests: readonly RpcRequest<T>[],
    results: RpcResult<T>[],
  ): Promise<RpcResult<T>[]> => {
    const oversized = requests.filter((_, index) => isOversized(results[index]));
    if (requests.length === 1 || oversized.length === 0) return results;
    // Results that did fit are not requested again.
    const retriedResults: RpcResult<T>[] = [];
    const partSizeMax = Math.min(Math.ceil(oversized.length / 2), callsPerRequestMax / 2);
    for (const part of chunk(oversized, partSizeMax)) {
      retriedResults.push(...(await resendOversized(part, await sendWithRangeFaults(part))));
    }
    return results.map((result) =>
      isOversized(result) ? (retriedResults.shift() ?? result) : result,
    );
  };

  const inBatches =
    (sendBatch: JsonRpcClient): JsonRpcClient =>
    async (requests) => {
      if (clock.elapsedMs() < batchesDisabledUntilMs) return sendSingly(requests);
      const results = [];
      const batches = chunk(requests, callsPerRequestMax);
      for (const batchGroup of chunk(batches, requestsAtOnceMax)) {
        results.push(...(await Promise.all(batchGroup.map((batch) => sendBatch(batch)))).flat());
      }
      return results;
    };
  const sendTogether = inBatches(sendWithRangeFaults);
  return {
    sendAll: inBatches(sendChunk),
    sendInParts: async (requests) => resendOversized(requests, await sendTogether(requests)),
  };
};

const withRequestCount =
  (
    jsonRpc: JsonRpcClient,
    metrics: RpcMetrics,
    label: { chain: string; provider: string },
  ): JsonRpcClient =>
  async (requests) => {
    try {
      const results = await jsonRpc(requests);
      const failedResult = results.find((result) => "fault" in result);
      metrics.countRequest(label, failedResult?.fault.kind ?? "ok");
      return results;
    } catch (error) {
      metrics.countRequest(label, error instanceof RpcFault ? error.kind : "refused");
      throw error;
    }
  };

const isOversized = (result: RpcResult | undefined): boolean =>
  result !== undefined && "fault" in result && result.fault.kind === "range";
