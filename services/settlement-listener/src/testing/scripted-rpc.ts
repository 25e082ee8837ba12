import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

/** What an RPC provider may do wrong; behind it stands a node that does everything right. */
export type RpcFaultScript =
  /** The node, or the host before it, bears only so much. */
  | { kind: "limited"; limits: readonly SizeLimit[] }
  /** What the node answers is turned into whatever text a test likes. */
  | { kind: "hostile"; spoil: (reply: unknown) => string }
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
  | { kind: "held"; hold: () => Promise<unknown> }
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
  of: "blocks" | "logs" | "calls" | "answers";
  max: number;
  code: number;
  message: string;
  /** With that HTTP status, instead of 200. */
  status?: number;
  /** A batch that is refused as a whole gets a page of a web server. */
  isPage?: true;
};

type FaultKind = RpcFaultScript["kind"];

export type Playing = {
  /** How often it struck; a batch counts once. */
  struckCount(): number;
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
  play(
    fault: RpcFaultScript,
    when?: { times?: number; methods?: readonly string[]; but?: readonly string[] },
  ): Playing;
  /** Ends all faults. */
  heal(): void;
  /**
   * How many HTTP requests arrived, how many calls they held, how many by method, and what struck.
   */
  counts(): {
    requests: number;
    calls: number;
    methods: Map<string, number>;
    struck: Map<FaultKind, number>;
  };
  close(): Promise<void>;
};

type Call = { id?: unknown; method: string; params?: unknown[] };
type Reply = { id?: unknown; result?: unknown; error?: unknown };
type Rule = {
  fault: RpcFaultScript;
  timesLeft: number;
  struckCount: number;
  methods: readonly string[] | undefined;
  but: readonly string[];
};

const bodyBytesMax = 8 * 1024 * 1024;

/**
 * Opens the proxy on loopback, at a port that the system chooses; without a fault it only passes
 * requests on.
 */
export const openScriptedRpc = async ({ target }: { target: string }): Promise<ScriptedRpc> => {
  const rules = new Set<Rule>();
  const methods = new Map<string, number>();
  const struck = new Map<FaultKind, number>();
  let requests = 0;

  const strike = (calls: readonly Call[]): RpcFaultScript[] =>
    [...rules].flatMap((rule) => {
      if (rule.timesLeft <= 0 || !concerns(rule, calls)) return [];
      rule.timesLeft -= 1;
      rule.struckCount += 1;
      struck.set(rule.fault.kind, (struck.get(rule.fault.kind) ?? 0) + 1);
      return [rule.fault];
    });

  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const body: Call | Call[] = JSON.parse(await readBody(request));
      const calls = Array.isArray(body) ? body : [body];
      requests += 1;
      for (const { method } of calls) methods.set(method, (methods.get(method) ?? 0) + 1);
      const faults = strike(calls);
      if (breaksOff(faults, Array.isArray(body), response)) return;
      const limited = find(faults, "limited");
      if (limited !== undefined) return answerLimited(target, body, limited.limits, response);
      const hostile = find(faults, "hostile");
      if (hostile !== undefined) return void response.end(hostile.spoil(await post(target, body)));
      if (faults.length === 0) return send(response, [], await post(target, body));
      const replies = await Promise.all(calls.map((call) => answer(target, call, faults)));
      return send(response, faults, Array.isArray(body) ? replies : replies[0]);
    };
    serve().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");

  return {
    url: `http://127.0.0.1:${address.port}/`,
    play: (fault, { times = Infinity, methods, but = [] } = {}) => {
      const rule: Rule = { fault, timesLeft: times, struckCount: 0, methods, but };
      rules.add(rule);
      return { struckCount: () => rule.struckCount, stop: () => void rules.delete(rule) };
    },
    heal: () => rules.clear(),
    counts: () => ({
      requests,
      calls: [...methods.values()].reduce((sum, count) => sum + count, 0),
      methods: new Map(methods),
      struck: new Map(struck),
    }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};

/** The methods whose answers a fault changes; a fault that is not listed here concerns all. */
const methodsOf: Partial<Record<FaultKind, readonly string[]>> = {
  empty_logs: ["eth_getLogs"],
  duplicate_logs: ["eth_getLogs"],
  range_limit: ["eth_getLogs"],
  wrong_chain: ["eth_chainId"],
  no_receipts: ["eth_getTransactionReceipt", "eth_getTransactionByHash"],
};

const concerns = ({ but, fault, methods }: Rule, calls: readonly Call[]): boolean => {
  if (calls.some(({ method }) => but.includes(method))) return false;
  if (fault.kind === "no_batches" && calls.length < 2) return false;
  if (fault.kind === "range_limit" && !calls.some((call) => isWider(call, fault.blocksMax))) {
    return false;
  }
  return [methodsOf[fault.kind], methods].every(
    (some) => some === undefined || calls.some(({ method }) => some.includes(method)),
  );
};

const isWider = (call: Call, blocksMax: number): boolean => {
  const { fromBlock, toBlock } = readFilter(call);
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

const find = <K extends FaultKind>(
  faults: readonly RpcFaultScript[],
  kind: K,
): Extract<RpcFaultScript, { kind: K }> | undefined =>
  faults.find((fault): fault is Extract<RpcFaultScript, { kind: K }> => fault.kind === kind);

/** Answers in the node's place if the fault leaves nothing to ask it; true if it did. */
const breaksOff = (
  faults: readonly RpcFaultScript[],
  isBatch: boolean,
  response: ServerResponse,
): boolean => {
  const limited = find(faults, "rate_limited");
  const json = { "content-type": "application/json" };
  if (find(faults, "down") !== undefined) response.destroy();
  else if (find(faults, "server_error") !== undefined) response.writeHead(503).end("down");
  else if (limited !== undefined) {
    const { retryAfterSeconds } = limited;
    const wait = retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` };
    response.writeHead(429, { ...json, ...wait });
    response.end(JSON.stringify(errorOf(-32005, "too many requests")));
  } else if (isBatch && find(faults, "no_batches") !== undefined) {
    response.writeHead(200, json);
    response.end(JSON.stringify(errorOf(-32600, "batches are not supported")));
  } else return false;
  return true;
};

const errorOf = (code: number, message: string) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code, message },
});

const send = async (
  response: ServerResponse,
  faults: readonly RpcFaultScript[],
  reply: unknown,
): Promise<void> => {
  const late = find(faults, "late");
  if (late !== undefined) await injectDelay("slow peer", late.delayMs);
  await find(faults, "held")?.hold();
  const text = find(faults, "garbage") === undefined ? JSON.stringify(reply) : "<html>busy</html>";
  response.writeHead(200, { "content-type": "application/json" });
  if (find(faults, "hanging_body") !== undefined) response.write(text.slice(0, 10));
  else response.end(text);
};

/** Forwards a request to a node that bears only so much. */
const answerLimited = async (
  target: string,
  body: Call | Call[],
  limits: readonly SizeLimit[],
  response: ServerResponse,
): Promise<void> => {
  const calls = [body].flat();
  const over = (of: SizeLimit["of"], count: number) =>
    limits.find((limit) => limit.of === of && count > limit.max);
  const refusal = Array.isArray(body) ? over("calls", calls.length) : undefined;
  if (refusal !== undefined) return refuseBatch(refusal, response);
  let status = 200;
  const refuse = (call: Call, limit: SizeLimit): Reply => {
    status = limit.status ?? status;
    return { ...ofCall(call), error: { code: limit.code, message: limit.message } };
  };
  const replies = await Promise.all(
    calls.map(async (call, index): Promise<Reply> => {
      const cut = Array.isArray(body) ? over("answers", index + 1) : undefined;
      if (cut !== undefined) return refuse(call, cut);
      const { fromBlock, toBlock } = readFilter(call);
      const isRange = fromBlock !== undefined && toBlock !== undefined;
      const wide = isRange ? over("blocks", toBlock - fromBlock + 1) : undefined;
      if (wide !== undefined) return refuse(call, wide);
      const reply = await forward(target, call);
      const isLogs = call.method === "eth_getLogs" && Array.isArray(reply.result);
      const many = isLogs ? over("logs", (reply.result as unknown[]).length) : undefined;
      return many === undefined ? reply : refuse(call, many);
    }),
  );
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
};

const refuseBatch = (
  { code, isPage, message, status = 200 }: SizeLimit,
  response: ServerResponse,
) => {
  response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json" });
  response.end(isPage ? `<html>${message}</html>` : JSON.stringify(errorOf(code, message)));
};

const answer = async (
  target: string,
  call: Call,
  faults: readonly RpcFaultScript[],
): Promise<Reply> => {
  const reply = (result: unknown): Reply => ({ ...ofCall(call), result });
  const refuse = (code: number, message: string): Reply => ({
    ...ofCall(call),
    error: { code, message },
  });
  const tag = call.params?.[0];
  const isBlockTag = call.method === "eth_getBlockByNumber" && typeof tag === "string";

  if (find(faults, "nonsense") !== undefined) return reply({ nonsense: true });
  const wrongChain = find(faults, "wrong_chain");
  if (wrongChain !== undefined && call.method === "eth_chainId") {
    return reply(`0x${wrongChain.chainId.toString(16)}`);
  }
  if (find(faults, "no_tags") !== undefined && isBlockTag && /^(safe|finalized)$/.test(tag)) {
    return refuse(-32602, `unknown tag ${tag}`);
  }
  const forgetful = find(faults, "no_receipts");
  if (forgetful !== undefined && methodsOf.no_receipts?.includes(call.method)) {
    const { beforeBlock } = forgetful;
    return beforeBlock === undefined
      ? reply(null)
      : forgetOld(await forward(target, call), beforeBlock);
  }
  const forked = find(faults, "forked");
  if (forked !== undefined) {
    const rest = faults.filter((fault) => fault !== forked);
    return putOnFork(await answer(target, leaveFork(call), rest), forked.fromBlock);
  }
  if (find(faults, "broken_chain") !== undefined && isBlockTag) {
    const { result, ...reply } = await forward(target, call);
    return { ...reply, result: isRecord(result) ? breakChain(result) : result };
  }
  if (find(faults, "early_final") !== undefined && isBlockTag && /^(safe|finalized)$/.test(tag)) {
    return forward(target, { ...call, params: ["latest", false] });
  }
  if (find(faults, "inflated") !== undefined && call.method === "eth_getTransactionReceipt") {
    const { result, ...reply } = await forward(target, call);
    return { ...reply, result: isRecord(result) ? inflate(result) : result };
  }
  if (find(faults, "wrong_nonces") !== undefined && call.method === "eth_getTransactionByHash") {
    const { result, ...reply } = await forward(target, call);
    return { ...reply, result: isRecord(result) ? { ...result, nonce: "0x0" } : result };
  }
  if (find(faults, "invented") !== undefined)
    return inventMore(call, await forward(target, call), (hash) =>
      forward(target, { ...call, params: [hash] }),
    );
  if (find(faults, "old_blocks") !== undefined && isBlockTag) {
    const { result, ...reply } = await forward(target, call);
    return { ...reply, result: isRecord(result) ? makeOlder(result) : result };
  }
  if (call.method === "eth_getLogs") return answerLogs(target, call, faults);
  const stale = find(faults, "stale_head");
  return stale === undefined ? forward(target, call) : answerBehind(target, call, stale);
};

const answerLogs = async (
  target: string,
  call: Call,
  faults: readonly RpcFaultScript[],
): Promise<Reply> => {
  const { fromBlock, toBlock, ...filter } = readFilter(call);
  const isRange = fromBlock !== undefined && toBlock !== undefined;
  const limit = find(faults, "range_limit");
  if (limit !== undefined && isWider(call, limit.blocksMax)) {
    const message = `query exceeds max block range ${limit.blocksMax}`;
    return { ...ofCall(call), error: { code: -32005, message } };
  }
  if (find(faults, "empty_logs") !== undefined) return { ...ofCall(call), result: [] };
  const stale = find(faults, "stale_head");
  let asked = call;
  if (stale !== undefined && isRange) {
    const head = await headOf(target, stale.blockCount);
    if (fromBlock > head) return { ...ofCall(call), result: [] };
    const range = { fromBlock: hex(fromBlock), toBlock: hex(Math.min(toBlock, head)) };
    asked = { ...call, params: [{ ...filter, ...range }] };
  }
  const reply = await forward(target, asked);
  if (find(faults, "duplicate_logs") === undefined || !Array.isArray(reply.result)) return reply;
  return { ...reply, result: [...reply.result, ...reply.result] };
};

type Filter = { fromBlock?: number; toBlock?: number };

const readFilter = (call: Call): Filter => {
  const filter = call.params?.[0];
  if (!isRecord(filter)) return {};
  const { fromBlock, toBlock, ...rest } = filter;
  const range =
    fromBlock === undefined ? {} : { fromBlock: Number(fromBlock), toBlock: Number(toBlock) };
  return { ...rest, ...range };
};

/** A log filter or a call that names a block of the fork, translated to the chain's own hash. */
const leaveFork = (call: Call): Call => {
  const params = (call.params ?? []).map((param) =>
    isRecord(param) && typeof param.blockHash === "string"
      ? { ...param, blockHash: flip(param.blockHash) }
      : param,
  );
  return { ...call, params };
};

const putOnFork = (reply: Reply, fromBlock: number): Reply => {
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isRecord(value)) return value;
    const { blockHash, blockNumber, hash, logs, number, parentHash, ...rest } = value;
    const at = Number(blockNumber ?? number);
    if (!(at >= fromBlock)) return value;
    const renamed = {
      blockNumber,
      number,
      blockHash: flip(blockHash),
      // A transaction keeps its hash on whatever chain it is.
      hash: number === undefined ? hash : flip(hash),
      parentHash: at > fromBlock ? flip(parentHash) : parentHash,
      logs: rename(logs),
    };
    return { ...rest, ...renamed };
  };
  return { ...reply, result: rename(reply.result) };
};

const breakChain = (block: Record<string, unknown>) => ({
  ...block,
  parentHash: flip(block.parentHash),
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
const inventMore = async (
  { method, params }: Call,
  reply: Reply,
  askFor: (hash: unknown) => Promise<Reply>,
): Promise<Reply> => {
  if (method === "eth_getLogs" && Array.isArray(reply.result)) {
    const copies = reply.result.filter(isRecord).map((log) => ({
      ...log,
      transactionHash: flip(log.transactionHash),
      logIndex: hex(Number(log.logIndex) + inventedLogIndex),
    }));
    return { ...reply, result: [...reply.result, ...copies] };
  }
  if (method !== "eth_getTransactionReceipt" || reply.result !== null) return reply;
  const { result } = await askFor(flip(params?.[0]));
  return isRecord(result)
    ? { ...reply, result: { ...result, transactionHash: params?.[0] } }
    : reply;
};

const forgetOld = ({ result, ...reply }: Reply, beforeBlock: number): Reply => {
  const isOld =
    isRecord(result) &&
    typeof result.blockNumber === "string" &&
    Number(result.blockNumber) < beforeBlock;
  return { ...reply, result: isOld ? null : result };
};

const inventedLogIndex = 1_000;
const daySeconds = 24 * 60 * 60;

const makeOlder = (block: Record<string, unknown>) => ({
  ...block,
  timestamp: hex(Number(block.timestamp) - daySeconds),
});

/** Another hash for a block; applied twice it gives the first again. */
const flip = (hash: unknown): unknown =>
  typeof hash === "string"
    ? `0x${(Number.parseInt(hash.slice(2, 4), 16) ^ 0xff).toString(16).padStart(2, "0")}${hash.slice(4)}`
    : hash;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A node whose head is lower: blocks, receipts and tags above it do not exist. */
const answerBehind = async (
  target: string,
  call: Call,
  { blockCount }: { blockCount: number },
): Promise<Reply> => {
  const head = await headOf(target, blockCount);
  if (call.method === "eth_blockNumber") return { ...ofCall(call), result: hex(head) };
  const [block] = call.params ?? [];
  if (call.method === "eth_getBlockByNumber" && block === "latest") {
    return forward(target, { ...call, params: [hex(head), false] });
  }
  if (call.method === "eth_getTransactionCount" && Number(call.params?.[1]) > head) {
    return { ...ofCall(call), error: { code: -32000, message: "header not found" } };
  }
  const reply = await forward(target, call);
  const number = numberOf(reply.result);
  if (number === undefined) return reply;
  if (block === "safe" || block === "finalized") {
    return forward(target, { ...call, params: [hex(Math.max(0, number - blockCount)), false] });
  }
  if (number <= head) return reply;
  return { ...ofCall(call), result: null };
};

const numberOf = (result: unknown): number | undefined => {
  if (!isRecord(result)) return undefined;
  if ("blockNumber" in result) return Number(result.blockNumber);
  return "number" in result ? Number(result.number) : undefined;
};

const headOf = async (target: string, blockCount: number): Promise<number> => {
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

const ofCall = ({ id }: Call) => ({ jsonrpc: "2.0", id });

const hex = (count: number): string => `0x${count.toString(16)}`;
