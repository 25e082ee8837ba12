import { hashSecret } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import { formatProviderName } from "../reads/chain-reader.ts";
import { chunk } from "./chunk.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import {
  BatchRejectedError,
  type JsonRpcClient,
  type RpcRequest,
  createJsonRpcClient,
} from "./json-rpc.ts";
import { type RangeLimit, createRangeLimit } from "./range-limit.ts";
import { type ClassifyError, type ClassifyReply, RpcFault } from "./rpc-fault.ts";
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
   * Sends requests and returns their results in order. Throws the first {@link RpcFault}, unless
   * its request returns it (`orFault`). If the provider accepts batches, up to 100 requests are one
   * HTTP request, so the same node answers them. With `inParts`, requests whose results are too
   * large for one response are repeated, fewer at a time, down to one.
   */
  request<const Results extends readonly unknown[]>(
    requests: RequestsFor<Results>,
    options?: { inParts?: boolean },
  ): Promise<Results>;
  /**
   * Returns the chain that the provider serves, even if it is the wrong one. `request` fails on the
   * wrong chain.
   */
  fetchChain(): Promise<string>;
};

type RequestsFor<Results extends readonly unknown[]> = {
  readonly [K in keyof Results]: RpcRequest<Results[K]>;
};

/** The parts of the JSON-RPC protocol that differ between chains. */
export type Dialect = {
  /** The request for the chain that a node serves. */
  chainRequest: RpcRequest<string>;
  /** The expected result of `chainRequest`. */
  chainName: string;
  classifyError: ClassifyError;
  classifyReply?: ClassifyReply;
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
  const send = createRequestSender(options, label);
  let chainCheckedUntilMs = clock.elapsedMs();
  metrics.setCircuitOpen(label, false);

  const fetchChain = async () => {
    const [chain] = throwFaults([dialect.chainRequest], await send([dialect.chainRequest]));
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

  const sendToExpectedChain: typeof send = async (requests, sendOptions) => {
    try {
      await assertExpectedChain();
      return await send(requests, sendOptions);
    } catch (error) {
      chainCheckedUntilMs = clock.elapsedMs();
      throw error;
    }
  };

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
    request: async <const Results extends readonly unknown[]>(
      requests: RequestsFor<Results>,
      sendOptions?: { inParts?: boolean },
    ) => {
      const requestList: readonly RpcRequest[] = requests;
      const results = await sendToExpectedChain(requestList, sendOptions);
      // Each request's parser returned its result, in the order of the requests, so the types match.
      return throwFaults(requestList, results) as unknown as Results;
    },
    fetchChain,
  };
};

// The chain check is small. If it times out, the actual request is not too large, so a smaller one
// would not help.
const rethrowAsUnreachable = (error: unknown): never => {
  const isTimeout = error instanceof RpcFault && error.kind === "timeout";
  throw isTimeout ? new RpcFault("unreachable", error.message) : error;
};

/** Returns the results. Throws the first fault that its request does not return as a result. */
const throwFaults = <T>(
  requests: readonly RpcRequest<T>[],
  results: readonly (T | RpcFault)[],
): T[] =>
  results.map((result, index) => {
    if (result instanceof RpcFault && requests[index]?.returnsFault !== true) throw result;
    return result as T;
  });

/**
 * Creates the function that splits requests into batches that the provider accepts, sends a few
 * batches at a time, and counts each HTTP request. With `inParts`, it also repeats requests whose
 * results were too large, in smaller batches.
 */
const createRequestSender = (
  options: ProviderOptions,
  label: { chain: string; provider: string },
) => {
  const { clock, metrics } = options;
  const jsonRpc = createJsonRpcClient({ ...options, ...options.timing, ...options.dialect });
  const sendCounted = withRequestCount(jsonRpc, metrics, label);
  let batchesDisabledUntilMs = clock.elapsedMs();

  const sendBatch: JsonRpcClient = async (requests) => {
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
  const sendBatchOrFaults: JsonRpcClient = (requests) =>
    sendBatch(requests).catch((error: unknown) => {
      if (!isOversized(error)) throw error;
      return requests.map(() => error);
    });

  /**
   * Repeats the requests whose results were too large, in smaller batches, one batch after another.
   */
  const resendOversized = async <T>(
    requests: readonly RpcRequest<T>[],
    results: (T | RpcFault)[],
  ): Promise<(T | RpcFault)[]> => {
    const oversized = requests.filter((_, index) => isOversized(results[index]));
    if (requests.length === 1 || oversized.length === 0) return results;
    // Results that did fit are not requested again.
    const retriedResults: (T | RpcFault)[] = [];
    const partSizeMax = Math.min(Math.ceil(oversized.length / 2), callsPerRequestMax / 2);
    for (const part of chunk(oversized, partSizeMax)) {
      retriedResults.push(...(await resendOversized(part, await sendBatchOrFaults(part))));
    }
    // There is one repeated result for each of them. It can be null.
    return results.map((result) =>
      isOversized(result) ? (retriedResults.shift() as T | RpcFault) : result,
    );
  };

  const sendInBatches = async <T>(
    requests: readonly RpcRequest<T>[],
    send: JsonRpcClient,
  ): Promise<(T | RpcFault)[]> => {
    if (clock.elapsedMs() < batchesDisabledUntilMs) return sendSingly(requests);
    const results = [];
    const batches = chunk(requests, callsPerRequestMax);
    for (const batchGroup of chunk(batches, requestsAtOnceMax)) {
      results.push(...(await Promise.all(batchGroup.map((batch) => send(batch)))).flat());
    }
    return results;
  };

  return async <T>(requests: readonly RpcRequest<T>[], { inParts = false } = {}) =>
    inParts
      ? resendOversized(requests, await sendInBatches(requests, sendBatchOrFaults))
      : sendInBatches(requests, sendBatch);
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
      const fault = results.find((result) => result instanceof RpcFault);
      metrics.countRequest(label, fault?.kind ?? "ok");
      return results;
    } catch (error) {
      metrics.countRequest(label, error instanceof RpcFault ? error.kind : "refused");
      // An invalid response to a single call is the fault of this call.
      const isInvalid = error instanceof RpcFault && error.kind === "invalid";
      if (isInvalid && requests.length === 1) return [error];
      throw error;
    }
  };

const isOversized = (result: unknown): result is RpcFault =>
  result instanceof RpcFault && result.kind === "range";
