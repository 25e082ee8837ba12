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

/** One RPC provider of a chain. */
export type Provider = {
  /** `rpc-1`, `rpc-2`, in the order of configuration; the address is a secret. */
  name: string;
  /** A hash of its address, which stays whatever the order of the configuration. */
  id: string;
  circuitBreaker: CircuitBreaker;
  range: RangeLimit;
  /** Asks all the questions and answers in their order; throws {@link RpcFault} if one failed. */
  request<const Requests extends readonly RpcRequest[]>(
    requests: Requests,
  ): Promise<Values<Requests>>;
  /**
   * The same for any number of questions of one kind: where they are too much for one answer, fewer
   * are asked at once, down to one.
   */
  requestMany<T>(requests: readonly RpcRequest<T>[]): Promise<T[]>;
  /** The same, for questions of which some may fail. */
  requestEach<T>(requests: readonly RpcRequest<T>[]): Promise<RpcResult<T>[]>;
  /** The same, asked like {@link Provider.requestMany}. */
  requestEachInParts<T>(requests: readonly RpcRequest<T>[]): Promise<RpcResult<T>[]>;
  /** The chain that it says it serves; its other answers count only while that is the right one. */
  fetchChain(): Promise<string>;
};

type Values<Requests extends readonly RpcRequest[]> = {
  -readonly [K in keyof Requests]: Requests[K] extends RpcRequest<infer T> ? T : never;
};

/** How long things may take, and how often they are tried. */
export type RpcTiming = {
  /** One HTTP request, its answer's body included. */
  timeoutMs: number;
  /** A provider's first rest, after failures or after it said that it is asked too often. */
  cooldownMs: number;
  cooldownMsMax: number;
  /** After this time, a call to a reader asks no other provider and does not ask again. */
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

/** Opens a provider; nothing is asked before the first question. */
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

  // What answers at an address may change: a proxy's backend, or a node that was set up anew.
  const assertExpectedChain = async () => {
    if (clock.elapsedMs() < chainCheckedUntilMs) return;
    const servedChain = await fetchChain().catch(rethrowAsUnreachable);
    if (servedChain === dialect.chainName) return;
    metrics.countDisagreement(chainId, "wrong_chain");
    log.error(
      { chain: chainId, provider: name, found: servedChain },
      "an RPC provider serves another chain",
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
        if (isOpen) log.warn(label, "an RPC provider fails: it is left alone for a while");
        else log.info(label, "an RPC provider answers again");
      },
    }),
    requestEach,
    requestEachInParts: requestInParts,
    requestMany: async (requests) => unwrapAll(await requestInParts(requests)),
    // The questions have parsed these values, in the same order.
    request: async (requests) => unwrapAll(await requestEach(requests)) as Values<typeof requests>,
    fetchChain,
  };
};

// A time-out here says nothing of the question itself: its range is not to blame.
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
 * Cuts questions into requests that a provider can bear, sends a few at a time, and counts each. In
 * parts, those that were too much for an answer are asked again, fewer at once.
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

  /** Where all together are too much for an answer, each is. */
  const sendWithRangeFaults: JsonRpcClient = (requests) =>
    sendChunk(requests).catch((error: unknown) => {
      if (!(error instanceof RpcFault) || error.kind !== "range") throw error;
      return requests.map(() => ({ fault: error }));
    });

  /** Asks for the answers that were too much again, fewer at once, one request after the other. */
  const resendOversized = async <T>(
    requests: readonly RpcRequest<T>[],
    results: RpcResult<T>[],
  ): Promise<RpcResult<T>[]> => {
    const oversized = requests.filter((_, index) => isOversized(results[index]));
    if (requests.length === 1 || oversized.length === 0) return results;
    // Those that fitted into the answer stand.
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

/** Counts each request by what came of it. */
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
