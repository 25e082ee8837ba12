import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp } from "@payment-links/local-chains/serve-json-rpc";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

/** The faults of a scripted RPC provider. The node behind it is correct. */
export type ScriptedFault =
  /** The node or its host has size limits. */
  | { kind: "limited"; limits: readonly SizeLimit[] }
  /** The test replaces the node's reply with its own text. */
  | { kind: "hostile"; corrupt: (reply: unknown) => string }
  /** Log requests return no logs even if there are some. */
  | { kind: "empty_logs" }
  /** Every log is returned twice. */
  | { kind: "duplicate_logs" }
  /**
   * The node lags by this many blocks. Like geth, it returns null or an empty list for unknown
   * items.
   */
  | { kind: "stale_head"; blockCount: number }
  | { kind: "rate_limited"; retryAfterSeconds?: number }
  /** Larger ranges are rejected. */
  | { kind: "range_limit"; blocksMax: number }
  /** The node processes the request immediately, but its response is delayed. */
  | { kind: "late"; delayMs: number }
  /** The node has replied, but the response is delayed until the promise resolves. */
  | { kind: "held"; waitForRelease: () => Promise<unknown> }
  /** The response headers are sent immediately, but the body never ends. */
  | { kind: "hanging_body" }
  | { kind: "wrong_chain"; chainId: number }
  | { kind: "no_tags" }
  | { kind: "no_batches" }
  /**
   * From `fromBlock` on, the node is on a fork of its own. The fork has the same transactions but
   * different block hashes.
   */
  | { kind: "forked"; fromBlock: number }
  /** The parent hashes in the headers are hashes of blocks that do not exist. */
  | { kind: "broken_chain" }
  /** The node reports its newest block as final. */
  | { kind: "early_final" }
  /** Receipts report 1,000 times the transferred amount. */
  | { kind: "inflated" }
  /** Each payment is duplicated in a transaction that was never sent. */
  | { kind: "invented" }
  /** All transactions have the nonce 0. */
  | { kind: "wrong_nonces" }
  /** Block times are one day too early. */
  | { kind: "old_blocks" }
  /**
   * Receipts and transactions are unknown. With `beforeBlock`, only those before that block are
   * unknown, as on a pruned node.
   */
  | { kind: "no_receipts"; beforeBlock?: number }
  /** The response is not JSON. */
  | { kind: "garbage" }
  /** The response is JSON, but the result has a different shape. */
  | { kind: "nonsense" }
  | { kind: "server_error" }
  /** Connections are closed. */
  | { kind: "down" };

/** A size limit of a node or host, and its error when a request exceeds it. */
export type SizeLimit = {
  /**
   * `blocks` and `logs` limit a log request, and `calls` limits a batch. `answers` is the number of
   * calls in a batch that fit into the response. The other calls get an error.
   */
  unit: "blocks" | "logs" | "calls" | "answers";
  max: number;
  code: number;
  message: string;
  /** The HTTP status. Defaults to 200. */
  status?: number;
  /** Whether the response to a rejected batch is the HTML page of a web server. */
  isHtmlPage?: true;
};

type FaultKind = ScriptedFault["kind"];

export type ActiveFault = {
  /** Returns how often the fault was applied. A batch counts once. */
  getHitCount(): number;
  /** Removes the fault. */
  stop(): void;
};

/** An HTTP proxy in front of a node's JSON-RPC server that injects scripted faults. */
export type ScriptedRpc = {
  url: string;
  /**
   * Injects a fault from now on. `times` limits it to a number of matching HTTP requests, and
   * `methods` to requests that contain one of these methods. Requests that contain one of the
   * `excludedMethods` are not affected.
   */
  injectFault(
    fault: ScriptedFault,
    options?: { times?: number; methods?: readonly string[]; excludedMethods?: readonly string[] },
  ): ActiveFault;
  /** Removes all faults. */
  clearFaults(): void;
  /**
   * Returns the number of HTTP requests, of calls, of calls by method, and of injected faults by
   * kind.
   */
  getCounts(): {
    requests: number;
    calls: number;
    methods: Map<string, number>;
    hits: Map<FaultKind, number>;
  };
  close(): Promise<void>;
};

type Call = { id?: unknown; method: string; params?: unknown[] };
type Reply = { jsonrpc?: "2.0"; id?: unknown; result?: unknown; error?: unknown };
type FaultRule = {
  fault: ScriptedFault;
  remainingCount: number;
  hitCount: number;
  methods: readonly string[] | undefined;
  excludedMethods: readonly string[];
};

/** Starts the proxy on loopback at a free port. Without faults, it only forwards requests. */
export const startScriptedRpc = async ({ target }: { target: string }): Promise<ScriptedRpc> => {
  const rules = new Set<FaultRule>();
  const methods = new Map<string, number>();
  const hits = new Map<FaultKind, number>();
  let requests = 0;

  const takeFaults = (calls: readonly Call[]): ScriptedFault[] =>
    [...rules].flatMap((rule) => {
      if (rule.remainingCount <= 0 || !appliesTo(rule, calls)) return [];
      rule.remainingCount -= 1;
      rule.hitCount += 1;
      hits.set(rule.fault.kind, (hits.get(rule.fault.kind) ?? 0) + 1);
      return [rule.fault];
    });

  const server = await serveHttp(async (request, response) => {
    const body: Call | Call[] = JSON.parse(await text(request));
    const calls = Array.isArray(body) ? body : [body];
    requests += 1;
    for (const { method } of calls) methods.set(method, (methods.get(method) ?? 0) + 1);
    const faults = takeFaults(calls);
    if (respondWithoutNode(faults, Array.isArray(body), response)) return;
    const sizeLimitFault = findFault(faults, "limited");
    if (sizeLimitFault !== undefined)
      return respondWithLimits(target, body, sizeLimitFault.limits, response);
    const hostileFault = findFault(faults, "hostile");
    if (hostileFault !== undefined)
      return void response.end(hostileFault.corrupt(await post(target, body)));
    if (faults.length === 0) return sendReply(response, [], await post(target, body));
    const replies = await Promise.all(calls.map((call) => respondToCall(target, call, faults)));
    return sendReply(response, faults, Array.isArray(body) ? replies : replies[0]);
  });

  return {
    url: `${server.url}/`,
    injectFault: (fault, { times = Infinity, methods, excludedMethods = [] } = {}) => {
      const rule: FaultRule = {
        fault,
        remainingCount: times,
        hitCount: 0,
        methods,
        excludedMethods,
      };
      rules.add(rule);
      return { getHitCount: () => rule.hitCount, stop: () => void rules.delete(rule) };
    },
    clearFaults: () => rules.clear(),
    getCounts: () => ({
      requests,
      calls: [...methods.values()].reduce((sum, count) => sum + count, 0),
      methods: new Map(methods),
      hits: new Map(hits),
    }),
    close: () => server.close(),
  };
};

/** The methods that a fault affects. A fault that is not listed here affects all methods. */
const methodsByFault: Partial<Record<FaultKind, readonly string[]>> = {
  empty_logs: ["eth_getLogs"],
  duplicate_logs: ["eth_getLogs"],
  range_limit: ["eth_getLogs"],
  wrong_chain: ["eth_chainId"],
  no_receipts: ["eth_getTransactionReceipt", "eth_getTransactionByHash"],
};

const appliesTo = (
  { excludedMethods, fault, methods }: FaultRule,
  calls: readonly Call[],
): boolean => {
  if (calls.some(({ method }) => excludedMethods.includes(method))) return false;
  if (fault.kind === "no_batches" && calls.length < 2) return false;
  if (fault.kind === "range_limit" && !calls.some((call) => exceedsRange(call, fault.blocksMax))) {
    return false;
  }
  return [methodsByFault[fault.kind], methods].every(
    (methodNames) =>
      methodNames === undefined || calls.some(({ method }) => methodNames.includes(method)),
  );
};

const exceedsRange = (call: Call, blocksMax: number): boolean => {
  const { fromBlock, toBlock } = parseFilter(call);
  return fromBlock !== undefined && toBlock !== undefined && toBlock - fromBlock + 1 > blocksMax;
};

const findFault = <K extends FaultKind>(
  faults: readonly ScriptedFault[],
  kind: K,
): Extract<ScriptedFault, { kind: K }> | undefined =>
  faults.find((fault): fault is Extract<ScriptedFault, { kind: K }> => fault.kind === kind);

/** If a fault requires it, sends a response without asking the node. Returns whether it did. */
const respondWithoutNode = (
  faults: readonly ScriptedFault[],
  isBatch: boolean,
  response: ServerResponse,
): boolean => {
  const rateLimitFault = findFault(faults, "rate_limited");
  const json = { "content-type": "application/json" };
  if (findFault(faults, "down") !== undefined) response.destroy();
  else if (findFault(faults, "server_error") !== undefined) response.writeHead(503).end("down");
  else if (rateLimitFault !== undefined) {
    const { retryAfterSeconds } = rateLimitFault;
    const retryAfterHeader =
      retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` };
    response.writeHead(429, { ...json, ...retryAfterHeader });
    response.end(JSON.stringify(createRejection(noCall, -32005, "too many requests")));
  } else if (isBatch && findFault(faults, "no_batches") !== undefined) {
    response.writeHead(200, json);
    response.end(JSON.stringify(createRejection(noCall, -32600, "batches are not supported")));
  } else return false;
  return true;
};

/** An error for a whole request has the ID null. */
const noCall = { id: null };

const createResult = ({ id }: Pick<Call, "id">, result: unknown): Reply => ({
  jsonrpc: "2.0",
  id,
  result,
});

const createRejection = ({ id }: Pick<Call, "id">, code: number, message: string): Reply => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

const sendReply = async (
  response: ServerResponse,
  faults: readonly ScriptedFault[],
  reply: unknown,
): Promise<void> => {
  const lateFault = findFault(faults, "late");
  if (lateFault !== undefined) await injectDelay("slow peer", lateFault.delayMs);
  await findFault(faults, "held")?.waitForRelease();
  const replyText =
    findFault(faults, "garbage") === undefined ? JSON.stringify(reply) : "<html>busy</html>";
  response.writeHead(200, { "content-type": "application/json" });
  if (findFault(faults, "hanging_body") !== undefined) response.write(replyText.slice(0, 10));
  else response.end(replyText);
};

/** Forwards a request to a node and applies size limits. */
const respondWithLimits = async (
  target: string,
  body: Call | Call[],
  limits: readonly SizeLimit[],
  response: ServerResponse,
): Promise<void> => {
  const calls = [body].flat();
  const findExceededLimit = (unit: SizeLimit["unit"], count: number) =>
    limits.find((limit) => limit.unit === unit && count > limit.max);
  const batchLimit = Array.isArray(body) ? findExceededLimit("calls", calls.length) : undefined;
  if (batchLimit !== undefined) return rejectBatch(batchLimit, response);
  let status = 200;
  const rejectCall = (call: Call, limit: SizeLimit): Reply => {
    status = limit.status ?? status;
    return createRejection(call, limit.code, limit.message);
  };
  const replies = await Promise.all(
    calls.map(async (call, index): Promise<Reply> => {
      const replyLimit = Array.isArray(body) ? findExceededLimit("answers", index + 1) : undefined;
      if (replyLimit !== undefined) return rejectCall(call, replyLimit);
      const { fromBlock, toBlock } = parseFilter(call);
      const isRange = fromBlock !== undefined && toBlock !== undefined;
      const rangeLimit = isRange ? findExceededLimit("blocks", toBlock - fromBlock + 1) : undefined;
      if (rangeLimit !== undefined) return rejectCall(call, rangeLimit);
      const reply = await forward(target, call);
      const isLogs = call.method === "eth_getLogs" && Array.isArray(reply.result);
      const logLimit = isLogs
        ? findExceededLimit("logs", (reply.result as unknown[]).length)
        : undefined;
      return logLimit === undefined ? reply : rejectCall(call, logLimit);
    }),
  );
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
};

const rejectBatch = (
  { code, isHtmlPage, message, status = 200 }: SizeLimit,
  response: ServerResponse,
) => {
  response.writeHead(status, { "content-type": isHtmlPage ? "text/html" : "application/json" });
  response.end(
    isHtmlPage ? `<html>${message}</html>` : JSON.stringify(createRejection(noCall, code, message)),
  );
};

/** The faults that change a result of one method. */
const resultChanges: Partial<
  Record<FaultKind, { method: string; change: (result: Record<string, unknown>) => object }>
> = {
  broken_chain: {
    method: "eth_getBlockByNumber",
    change: (block) => ({ ...block, parentHash: flipHash(block.parentHash) }),
  },
  old_blocks: {
    method: "eth_getBlockByNumber",
    change: (block) => ({ ...block, timestamp: toHex(Number(block.timestamp) - daySeconds) }),
  },
  inflated: {
    method: "eth_getTransactionReceipt",
    change: ({ logs, ...receipt }) => ({
      ...receipt,
      logs: Array.isArray(logs) ? logs.map(inflateLog) : logs,
    }),
  },
  wrong_nonces: {
    method: "eth_getTransactionByHash",
    change: (transaction) => ({ ...transaction, nonce: "0x0" }),
  },
};

const respondToCall = async (
  target: string,
  call: Call,
  faults: readonly ScriptedFault[],
): Promise<Reply> => {
  const hasFault = (kind: FaultKind): boolean => faults.some((fault) => fault.kind === kind);
  const tag = call.params?.[0];
  const isFinalityTag =
    call.method === "eth_getBlockByNumber" && (tag === "safe" || tag === "finalized");

  if (hasFault("nonsense")) return createResult(call, { nonsense: true });
  const wrongChainFault = findFault(faults, "wrong_chain");
  if (wrongChainFault !== undefined && call.method === "eth_chainId")
    return createResult(call, toHex(wrongChainFault.chainId));
  if (hasFault("no_tags") && isFinalityTag)
    return createRejection(call, -32602, `unknown tag ${tag}`);
  const prunedFault = findFault(faults, "no_receipts");
  if (prunedFault !== undefined && methodsByFault.no_receipts?.includes(call.method)) {
    const { beforeBlock } = prunedFault;
    if (beforeBlock === undefined) return createResult(call, null);
    return forwardChanged(target, call, (result) =>
      Number(result.blockNumber ?? Infinity) < beforeBlock ? null : result,
    );
  }
  const forkFault = findFault(faults, "forked");
  if (forkFault !== undefined) {
    const otherFaults = faults.filter((fault) => fault !== forkFault);
    return moveToFork(
      await respondToCall(target, translateFromFork(call), otherFaults),
      forkFault.fromBlock,
    );
  }
  const resultChange = faults
    .map(({ kind }) => resultChanges[kind])
    .find((candidate) => candidate?.method === call.method);
  if (resultChange !== undefined) return forwardChanged(target, call, resultChange.change);
  if (hasFault("early_final") && isFinalityTag)
    return forward(target, { ...call, params: ["latest", false] });
  if (hasFault("invented"))
    return duplicateLogs(call, await forward(target, call), (hash) =>
      forward(target, { ...call, params: [hash] }),
    );
  if (call.method === "eth_getLogs") return respondToLogs(target, call, faults);
  const staleFault = findFault(faults, "stale_head");
  return staleFault === undefined ? forward(target, call) : respondBehind(target, call, staleFault);
};

const respondToLogs = async (
  target: string,
  call: Call,
  faults: readonly ScriptedFault[],
): Promise<Reply> => {
  const { fromBlock, toBlock, ...filter } = parseFilter(call);
  const isRange = fromBlock !== undefined && toBlock !== undefined;
  const limit = findFault(faults, "range_limit");
  if (limit !== undefined && exceedsRange(call, limit.blocksMax)) {
    return createRejection(call, -32005, `query exceeds max block range ${limit.blocksMax}`);
  }
  if (findFault(faults, "empty_logs") !== undefined) return createResult(call, []);
  const staleFault = findFault(faults, "stale_head");
  let forwardedCall = call;
  if (staleFault !== undefined && isRange) {
    const head = await readLaggingHead(target, staleFault.blockCount);
    if (fromBlock > head) return createResult(call, []);
    const range = { fromBlock: toHex(fromBlock), toBlock: toHex(Math.min(toBlock, head)) };
    forwardedCall = { ...call, params: [{ ...filter, ...range }] };
  }
  const reply = await forward(target, forwardedCall);
  if (findFault(faults, "duplicate_logs") === undefined || !Array.isArray(reply.result))
    return reply;
  return { ...reply, result: [...reply.result, ...reply.result] };
};

type Filter = { fromBlock?: number; toBlock?: number };

const parseFilter = (call: Call): Filter => {
  const filter = call.params?.[0];
  if (!isRecord(filter)) return {};
  const { fromBlock, toBlock, ...otherFields } = filter;
  const range =
    fromBlock === undefined ? {} : { fromBlock: Number(fromBlock), toBlock: Number(toBlock) };
  return { ...otherFields, ...range };
};

/** Replaces the fork's block hashes in a call with the hashes on the chain itself. */
const translateFromFork = (call: Call): Call => {
  const params = (call.params ?? []).map((param) =>
    isRecord(param) && typeof param.blockHash === "string"
      ? { ...param, blockHash: flipHash(param.blockHash) }
      : param,
  );
  return { ...call, params };
};

const moveToFork = (reply: Reply, fromBlock: number): Reply => {
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isRecord(value)) return value;
    const { blockHash, blockNumber, hash, logs, number, parentHash, ...otherFields } = value;
    const valueBlock = Number(blockNumber ?? number);
    if (!(valueBlock >= fromBlock)) return value;
    const rewritten = {
      blockNumber,
      number,
      blockHash: flipHash(blockHash),
      // A transaction has the same hash on every fork.
      hash: number === undefined ? hash : flipHash(hash),
      parentHash: valueBlock > fromBlock ? flipHash(parentHash) : parentHash,
      logs: rewrite(logs),
    };
    return { ...otherFields, ...rewritten };
  };
  return { ...reply, result: rewrite(reply.result) };
};

/** Multiplies the amount of a token's `Transfer`. Its data contains only the amount. */
const inflateLog = (log: unknown): unknown => {
  if (!isRecord(log) || typeof log.data !== "string" || log.data.length !== 66) return log;
  return { ...log, data: `0x${(BigInt(log.data) * 1000n).toString(16).padStart(64, "0")}` };
};

/**
 * Adds a copy of each log with a different transaction. For that transaction, returns a copy of the
 * receipt.
 */
const duplicateLogs = async (
  { method, params }: Call,
  reply: Reply,
  fetchReceipt: (hash: unknown) => Promise<Reply>,
): Promise<Reply> => {
  if (method === "eth_getLogs" && Array.isArray(reply.result)) {
    const copies = reply.result.filter(isRecord).map((log) => ({
      ...log,
      transactionHash: flipHash(log.transactionHash),
      logIndex: toHex(Number(log.logIndex) + inventedLogIndex),
    }));
    return { ...reply, result: [...reply.result, ...copies] };
  }
  if (method !== "eth_getTransactionReceipt" || reply.result !== null) return reply;
  const { result } = await fetchReceipt(flipHash(params?.[0]));
  return isRecord(result)
    ? { ...reply, result: { ...result, transactionHash: params?.[0] } }
    : reply;
};

const inventedLogIndex = 1_000;
const daySeconds = 24 * 60 * 60;

/** Returns a different hash for a block. Applying it twice returns the original hash. */
const flipHash = (hash: unknown): unknown =>
  typeof hash === "string"
    ? `0x${(Number.parseInt(hash.slice(2, 4), 16) ^ 0xff).toString(16).padStart(2, "0")}${hash.slice(4)}`
    : hash;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Responds like a node with a lower head. Blocks, receipts and tags above that head do not exist.
 */
const respondBehind = async (
  target: string,
  call: Call,
  { blockCount }: { blockCount: number },
): Promise<Reply> => {
  const head = await readLaggingHead(target, blockCount);
  if (call.method === "eth_blockNumber") return createResult(call, toHex(head));
  const [block] = call.params ?? [];
  if (call.method === "eth_getBlockByNumber" && block === "latest") {
    return forward(target, { ...call, params: [toHex(head), false] });
  }
  if (call.method === "eth_getTransactionCount" && Number(call.params?.[1]) > head) {
    return createRejection(call, -32000, "header not found");
  }
  const reply = await forward(target, call);
  const number = findBlockNumber(reply.result);
  if (number === undefined) return reply;
  if (block === "safe" || block === "finalized") {
    return forward(target, { ...call, params: [toHex(Math.max(0, number - blockCount)), false] });
  }
  if (number <= head) return reply;
  return createResult(call, null);
};

const findBlockNumber = (result: unknown): number | undefined => {
  if (!isRecord(result)) return undefined;
  if ("blockNumber" in result) return Number(result.blockNumber);
  return "number" in result ? Number(result.number) : undefined;
};

const readLaggingHead = async (target: string, blockCount: number): Promise<number> => {
  const { result } = await forward(target, { id: 1, method: "eth_blockNumber", params: [] });
  return Math.max(0, Number(result) - blockCount);
};

const forward = async (target: string, call: Call): Promise<Reply> =>
  (await post(target, { jsonrpc: "2.0", ...call })) as Reply;

/** Forwards a call and changes its result, unless the result is null. */
const forwardChanged = async (
  target: string,
  call: Call,
  change: (result: Record<string, unknown>) => object | null,
): Promise<Reply> => {
  const { result, ...otherFields } = await forward(target, call);
  return { ...otherFields, result: isRecord(result) ? change(result) : result };
};

const post = async (target: string, body: unknown): Promise<unknown> => {
  const response = await fetch(target, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
};

const toHex = (count: number): string => `0x${count.toString(16)}`;
