import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

/** What an RPC provider may do wrong; behind it stands a node that does everything right. */
export type ScriptedFault =
  /** The node, or the host before it, bears only so much. */
  | { kind: "limited"; limits: readonly SizeLimit[] }
  /** What the node answers is turned into whatever text a test likes. */
  | { kind: "hostile"; corrupt: (reply: unknown) => string }
  /** Logs are asked for, and the answer has none, although there are some. */
  | { kind: "empty_logs" }
  /** Every log comes twice. */
  | { kind: "duplicate_logs" }
  /**
   * The node is that many blocks behind, as geth can be: what it does not know is null, or empty.
   */
  | { kind: "stale_head"; blockCount: number }
  | { kind: "rate_limited"; retryAfterSeconds?: number }
  /** Ranges of more blocks than that are refused. */
  | { kind: "range_limit"; blocksMax: number }
  /** The work is done, the answer comes too late. */
  | { kind: "late"; delayMs: number }
  /** The node has answered, and its answer is held until the promise resolves. */
  | { kind: "held"; waitForRelease: () => Promise<unknown> }
  /** The answer's head comes at once, its body never ends. */
  | { kind: "hanging_body" }
  | { kind: "wrong_chain"; chainId: number }
  | { kind: "no_tags" }
  | { kind: "no_batches" }
  /**
   * From a block on, the node is on a fork of its own: the same transactions under other block
   * hashes.
   */
  | { kind: "forked"; fromBlock: number }
  /** Headers name parents that do not exist. */
  | { kind: "broken_chain" }
  /** The node calls its newest block final. */
  | { kind: "early_final" }
  /** Receipts say that tokens moved a thousandfold. */
  | { kind: "inflated" }
  /** Each payment is there twice, the second time by a transaction that nobody has sent. */
  | { kind: "invented" }
  /** Transactions have the first nonce of their sender. */
  | { kind: "wrong_nonces" }
  /** Blocks are a day older than they are. */
  | { kind: "old_blocks" }
  /** Receipts and transactions are not known; those before a block if one is given, as of a node that has pruned them. */
  | { kind: "no_receipts"; beforeBlock?: number }
  /** The answer is not JSON. */
  | { kind: "garbage" }
  /** The answer is JSON, but nonsense: a result of another shape. */
  | { kind: "nonsense" }
  | { kind: "server_error" }
  /** Connections break off. */
  | { kind: "down" };

/** What a node or host bears, and what it says where that is too much. */
export type SizeLimit = {
  /**
   * Of one call for logs, its blocks or its logs; of a batch, its calls, or how many of them are
   * answered before its answer is full.
   */
  unit: "blocks" | "logs" | "calls" | "answers";
  max: number;
  code: number;
  message: string;
  /** With that HTTP status, instead of 200. */
  status?: number;
  /** A batch that is refused as a whole gets a page of a web server. */
  isHtmlPage?: true;
};

type FaultKind = ScriptedFault["kind"];

export type ActiveFault = {
  /** How often it struck; a batch counts once. */
  getHitCount(): number;
  /** Ends the fault. */
  stop(): void;
};

/** An HTTP proxy before a node's JSON-RPC that plays faults by a script. */
export type ScriptedRpc = {
  url: string;
  /**
   * Plays a fault from now on: for that many of the HTTP requests that it concerns (all if not
   * given), and only for those that contain one of the methods (any if not given), and none of those
   * that are excepted.
   */
  injectFault(
    fault: ScriptedFault,
    options?: { times?: number; methods?: readonly string[]; excludedMethods?: readonly string[] },
  ): ActiveFault;
  /** Ends all faults. */
  clearFaults(): void;
  /**
   * How many HTTP requests arrived, how many calls they held, how many by method, and what struck.
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
type Reply = { id?: unknown; result?: unknown; error?: unknown };
type FaultRule = {
  fault: ScriptedFault;
  remainingCount: number;
  hitCount: number;
  methods: readonly string[] | undefined;
  excludedMethods: readonly string[];
};

const bodyBytesMax = 8 * 1024 * 1024;

/**
 * Opens the proxy on loopback, at a port that the system chooses; without a fault it only passes
 * requests on.
 */
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

  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const body: Call | Call[] = JSON.parse(await readBody(request));
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
    };
    serve().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");

  return {
    url: `http://127.0.0.1:${address.port}/`,
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
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};

/** The methods whose answers a fault changes; a fault that is not listed here concerns all. */
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

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    byteCount += chunk.length;
    if (byteCount > bodyBytesMax) throw new Error("a request too large");
  }
  return Buffer.concat(chunks).toString("utf8");
};

const findFault = <K extends FaultKind>(
  faults: readonly ScriptedFault[],
  kind: K,
): Extract<ScriptedFault, { kind: K }> | undefined =>
  faults.find((fault): fault is Extract<ScriptedFault, { kind: K }> => fault.kind === kind);

/** Answers in the node's place if the fault leaves nothing to ask it; true if it did. */
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
    response.end(JSON.stringify(createErrorReply(-32005, "too many requests")));
  } else if (isBatch && findFault(faults, "no_batches") !== undefined) {
    response.writeHead(200, json);
    response.end(JSON.stringify(createErrorReply(-32600, "batches are not supported")));
  } else return false;
  return true;
};

const createErrorReply = (code: number, message: string) => ({
  jsonrpc: "2.0",
  id: null,
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
  const text =
    findFault(faults, "garbage") === undefined ? JSON.stringify(reply) : "<html>busy</html>";
  response.writeHead(200, { "content-type": "application/json" });
  if (findFault(faults, "hanging_body") !== undefined) response.write(text.slice(0, 10));
  else response.end(text);
};

/** Forwards a request to a node that bears only so much. */
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
  const createRejection = (call: Call, limit: SizeLimit): Reply => {
    status = limit.status ?? status;
    return { ...createReplyBase(call), error: { code: limit.code, message: limit.message } };
  };
  const replies = await Promise.all(
    calls.map(async (call, index): Promise<Reply> => {
      const replyLimit = Array.isArray(body) ? findExceededLimit("answers", index + 1) : undefined;
      if (replyLimit !== undefined) return createRejection(call, replyLimit);
      const { fromBlock, toBlock } = parseFilter(call);
      const isRange = fromBlock !== undefined && toBlock !== undefined;
      const rangeLimit = isRange ? findExceededLimit("blocks", toBlock - fromBlock + 1) : undefined;
      if (rangeLimit !== undefined) return createRejection(call, rangeLimit);
      const reply = await forward(target, call);
      const isLogs = call.method === "eth_getLogs" && Array.isArray(reply.result);
      const logLimit = isLogs
        ? findExceededLimit("logs", (reply.result as unknown[]).length)
        : undefined;
      return logLimit === undefined ? reply : createRejection(call, logLimit);
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
    isHtmlPage ? `<html>${message}</html>` : JSON.stringify(createErrorReply(code, message)),
  );
};

const respondToCall = async (
  target: string,
  call: Call,
  faults: readonly ScriptedFault[],
): Promise<Reply> => {
  const createReply = (result: unknown): Reply => ({ ...createReplyBase(call), result });
  const createRejection = (code: number, message: string): Reply => ({
    ...createReplyBase(call),
    error: { code, message },
  });
  const tag = call.params?.[0];
  const isBlockTag = call.method === "eth_getBlockByNumber" && typeof tag === "string";

  if (findFault(faults, "nonsense") !== undefined) return createReply({ nonsense: true });
  const wrongChainFault = findFault(faults, "wrong_chain");
  if (wrongChainFault !== undefined && call.method === "eth_chainId") {
    return createReply(`0x${wrongChainFault.chainId.toString(16)}`);
  }
  if (findFault(faults, "no_tags") !== undefined && isBlockTag && /^(safe|finalized)$/.test(tag)) {
    return createRejection(-32602, `unknown tag ${tag}`);
  }
  const prunedFault = findFault(faults, "no_receipts");
  if (prunedFault !== undefined && methodsByFault.no_receipts?.includes(call.method)) {
    const { beforeBlock } = prunedFault;
    return beforeBlock === undefined
      ? createReply(null)
      : hideOldResult(await forward(target, call), beforeBlock);
  }
  const forkFault = findFault(faults, "forked");
  if (forkFault !== undefined) {
    const otherFaults = faults.filter((fault) => fault !== forkFault);
    return moveToFork(
      await respondToCall(target, translateFromFork(call), otherFaults),
      forkFault.fromBlock,
    );
  }
  if (findFault(faults, "broken_chain") !== undefined && isBlockTag) {
    const { result, ...otherFields } = await forward(target, call);
    return { ...otherFields, result: isRecord(result) ? breakParentHash(result) : result };
  }
  if (
    findFault(faults, "early_final") !== undefined &&
    isBlockTag &&
    /^(safe|finalized)$/.test(tag)
  ) {
    return forward(target, { ...call, params: ["latest", false] });
  }
  if (findFault(faults, "inflated") !== undefined && call.method === "eth_getTransactionReceipt") {
    const { result, ...otherFields } = await forward(target, call);
    return { ...otherFields, result: isRecord(result) ? inflate(result) : result };
  }
  if (
    findFault(faults, "wrong_nonces") !== undefined &&
    call.method === "eth_getTransactionByHash"
  ) {
    const { result, ...otherFields } = await forward(target, call);
    return { ...otherFields, result: isRecord(result) ? { ...result, nonce: "0x0" } : result };
  }
  if (findFault(faults, "invented") !== undefined)
    return duplicateLogs(call, await forward(target, call), (hash) =>
      forward(target, { ...call, params: [hash] }),
    );
  if (findFault(faults, "old_blocks") !== undefined && isBlockTag) {
    const { result, ...otherFields } = await forward(target, call);
    return { ...otherFields, result: isRecord(result) ? backdateBlock(result) : result };
  }
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
    const message = `query exceeds max block range ${limit.blocksMax}`;
    return { ...createReplyBase(call), error: { code: -32005, message } };
  }
  if (findFault(faults, "empty_logs") !== undefined)
    return { ...createReplyBase(call), result: [] };
  const staleFault = findFault(faults, "stale_head");
  let forwardedCall = call;
  if (staleFault !== undefined && isRange) {
    const head = await readLaggingHead(target, staleFault.blockCount);
    if (fromBlock > head) return { ...createReplyBase(call), result: [] };
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

/** A log filter or a call that names a block of the fork, translated to the chain's own hash. */
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
      // A transaction keeps its hash on whatever chain it is.
      hash: number === undefined ? hash : flipHash(hash),
      parentHash: valueBlock > fromBlock ? flipHash(parentHash) : parentHash,
      logs: rewrite(logs),
    };
    return { ...otherFields, ...rewritten };
  };
  return { ...reply, result: rewrite(reply.result) };
};

const breakParentHash = (block: Record<string, unknown>) => ({
  ...block,
  parentHash: flipHash(block.parentHash),
});

const inflate = ({ logs, ...receipt }: Record<string, unknown>) => ({
  ...receipt,
  logs: Array.isArray(logs) ? logs.map(inflateLog) : logs,
});

/** Of a token's Transfer the data are its amount alone. */
const inflateLog = (log: unknown): unknown => {
  if (!isRecord(log) || typeof log.data !== "string" || log.data.length !== 66) return log;
  return { ...log, data: `0x${(BigInt(log.data) * 1000n).toString(16).padStart(64, "0")}` };
};

/** Logs, each with a copy of another transaction; and that one's receipt, copied as well. */
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

const hideOldResult = ({ result, ...otherFields }: Reply, beforeBlock: number): Reply => {
  const isOld =
    isRecord(result) &&
    typeof result.blockNumber === "string" &&
    Number(result.blockNumber) < beforeBlock;
  return { ...otherFields, result: isOld ? null : result };
};

const inventedLogIndex = 1_000;
const daySeconds = 24 * 60 * 60;

const backdateBlock = (block: Record<string, unknown>) => ({
  ...block,
  timestamp: toHex(Number(block.timestamp) - daySeconds),
});

/** Another hash for a block; applied twice it gives the first again. */
const flipHash = (hash: unknown): unknown =>
  typeof hash === "string"
    ? `0x${(Number.parseInt(hash.slice(2, 4), 16) ^ 0xff).toString(16).padStart(2, "0")}${hash.slice(4)}`
    : hash;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A node whose head is lower: blocks, receipts and tags above it do not exist. */
const respondBehind = async (
  target: string,
  call: Call,
  { blockCount }: { blockCount: number },
): Promise<Reply> => {
  const head = await readLaggingHead(target, blockCount);
  if (call.method === "eth_blockNumber") return { ...createReplyBase(call), result: toHex(head) };
  const [block] = call.params ?? [];
  if (call.method === "eth_getBlockByNumber" && block === "latest") {
    return forward(target, { ...call, params: [toHex(head), false] });
  }
  if (call.method === "eth_getTransactionCount" && Number(call.params?.[1]) > head) {
    return { ...createReplyBase(call), error: { code: -32000, message: "header not found" } };
  }
  const reply = await forward(target, call);
  const number = findBlockNumber(reply.result);
  if (number === undefined) return reply;
  if (block === "safe" || block === "finalized") {
    return forward(target, { ...call, params: [toHex(Math.max(0, number - blockCount)), false] });
  }
  if (number <= head) return reply;
  return { ...createReplyBase(call), result: null };
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

const post = async (target: string, body: unknown): Promise<unknown> => {
  const response = await fetch(target, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
};

const createReplyBase = ({ id }: Call) => ({ jsonrpc: "2.0", id });

const toHex = (count: number): string => `0x${count.toString(16)}`;
