import { loadCatalogue } from "@payment-links/contracts";
import { callToken } from "@payment-links/local-chains/evm/call-token";
import { type ChainLog, encodeWord } from "@payment-links/local-chains/evm/encode-logs";
import {
  type HandleRpc,
  RpcError,
  respondToBody,
} from "@payment-links/local-chains/serve-json-rpc";
import { type TronView, handleTronCall } from "@payment-links/local-chains/tron/handle-call";
import {
  defaultBlockRangeMax,
  overloadedResponse,
} from "@payment-links/local-chains/tron/tron-errors";
import { type Block, type Transaction, finalDepth, safeDepth } from "./block.ts";
import { type Chain, computeBlockBloom } from "./chain.ts";
import {
  type RpcCall,
  type NodeBehavior,
  type Provider,
  type NodeView,
  findBlock,
  findTransaction,
  servesOtherChain,
  createNodeView,
} from "./node-view.ts";
import { createBitcoinNode } from "./bitcoin-node.ts";
import { createSolanaNode } from "./solana-node.ts";
import { type ChainKind, tron } from "./chain-kinds.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** An HTTP response, or `never` if there is no response. */
export type NodeResponse = { traceText: string; status: number; body: string } | "never";

const toQuantity = (value: number): string => `0x${value.toString(16)}`;

/** geth's error for pruned history (EIP-4444). */
const createPrunedError = () => new RpcError(4444, "pruned history unavailable");

/**
 * Handles an HTTP request to a provider with JSON-RPC, based on the provider's view of the chain.
 */
export const handleNodeRequest = async (
  { chain, kind, world }: { chain: Chain; kind: ChainKind; world: SimulatedWorld },
  { behavior, nodeProgram }: Provider,
  text: string,
): Promise<NodeResponse> => {
  const calls = [JSON.parse(text) as RpcCall | RpcCall[]].flat();
  const methods = [...new Set(calls.map(({ method }) => method.replace("eth_", "")))].join();
  world.count(`a node ${behavior.kind}`);
  if (behavior.kind === "is silent") return "never";
  if (behavior.kind === "rejects") {
    const isTronBusy = kind === tron && behavior.status === 429;
    const [status, body] = isTronBusy
      ? [200, JSON.stringify(overloadedResponse)]
      : [behavior.status, ""];
    return { traceText: `${methods} ${behavior.status}`, status, body };
  }
  const view = createNodeView({ chain, kind, world }, { behavior, nodeProgram }, calls);
  return {
    traceText: `${calls.length} ${methods}`,
    status: 200,
    body: await respondToBody(text, createNode(view)),
  };
};

const createNode = (view: NodeView): HandleRpc => {
  switch (view.kind.chainType) {
    case "EVM":
      return (method, params) => handleEvmCall(view, method, params);
    case "TVM":
      return (method, params) => handleTronCall(createTronView(view), method, params);
    case "SVM":
      return createSolanaNode(view);
    case "BVM":
      return createBitcoinNode(view);
  }
};

const createTronView = (view: NodeView): TronView => ({
  callRpc: async (method, ...params) => handleEvmCall(view, method, params),
  finalizedLag: finalDepth,
  blockRangeMax: defaultBlockRangeMax,
});

const handleEvmCall = (view: NodeView, method: string, params: readonly unknown[]): unknown => {
  const head = view.blocks.length - 1;
  switch (method) {
    case "eth_chainId":
      return servesOtherChain(view) ? toQuantity(1) : toQuantity(Number(view.kind.nodeChainId));
    case "eth_blockNumber":
      return toQuantity(head);
    case "eth_getBlockByNumber":
      return serializeBlock(view, view.blocks[resolveBlockNumber(params[0], head)]);
    case "eth_getBlockByHash":
      return serializeBlock(view, findBlock(view, params[0]));
    case "eth_getLogs":
      return findLogs(view, params[0] as LogFilter);
    case "eth_getTransactionReceipt":
      return findReceipt(view, params[0]);
    case "eth_getTransactionByHash":
      return serializeTransaction(view, params[0]);
    case "eth_getTransactionCount":
      return toQuantity(
        countSentTransactions(view, String(params[0]), resolveBlockNumber(params[1], head)),
      );
    case "eth_getCode":
      return servesOtherChain(view) ? "0x" : "0x6001";
    case "eth_call":
      if (servesOtherChain(view)) return "0x";
      return callTokenMethod(view.kind, params[0] as { to: string; data: string });
    default:
      throw new RpcError(-32_601, `the method ${method} does not exist/is not available`);
  }
};

const resolveBlockNumber = (tag: unknown, head: number): number => {
  if (tag === "latest" || tag === "pending") return head;
  if (tag === "safe") return Math.max(0, head - safeDepth);
  if (tag === "finalized") return Math.max(0, head - finalDepth);
  return Number(tag);
};

const serializeBlock = (view: NodeView, block: Block | undefined): unknown => {
  if (block === undefined) return null;
  const answersPrunedBlocks =
    view.behavior.kind !== "prunes" || view.behavior.olderBlocks !== "rejected";
  if (!answersPrunedBlocks && view.isPruned(block)) throw createPrunedError();
  return {
    number: toQuantity(block.number),
    hash: view.getHash(block),
    parentHash: block.parent === undefined ? `0x${encodeWord(0)}` : view.getHash(block.parent),
    timestamp: toQuantity(block.timestampSeconds),
    logsBloom: computeBlockBloom({
      transactions: hidesBlooms(view.behavior) ? [] : view.getTransactions(block),
    }),
    transactions: view.getTransactions(block).map((transaction) => transaction.hash),
  };
};

const hidesBlooms = (behavior: NodeBehavior): boolean =>
  behavior.kind === "omits logs" && behavior.omittedFrom !== "results";

const hidesReceipts = (behavior: NodeBehavior): boolean =>
  behavior.kind === "omits logs" && behavior.omittedFrom === "receipts";

type LogFilter = {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string | readonly string[];
  topics?: readonly (string | readonly string[] | null)[];
};

const listBlocks = (
  view: NodeView,
  { blockHash, fromBlock, toBlock }: LogFilter,
): readonly Block[] => {
  if (blockHash === undefined) {
    const head = view.blocks.length - 1;
    const [from, to] = [resolveBlockNumber(fromBlock, head), resolveBlockNumber(toBlock, head)];
    return view.blocks.slice(from, to + 1);
  }
  const block = findBlock(view, blockHash);
  if (block === undefined) throw new RpcError(-32_000, "unknown block");
  return [block];
};

const findLogs = (view: NodeView, filter: LogFilter): unknown => {
  const { behavior } = view;
  const requestedBlocks = listBlocks(view, filter);
  if (behavior.kind === "omits logs") return [];
  const olderBlocks = behavior.kind === "prunes" ? behavior.olderBlocks : "returned";
  if (olderBlocks === "rejected" && requestedBlocks.some(view.isPruned)) {
    view.countPrunedRequest();
    throw createPrunedError();
  }
  const blocks = olderBlocks === "omitted" ? view.omitPruned(requestedBlocks) : requestedBlocks;
  const matchesFilter = (
    expectedValues: string | readonly string[] | null | undefined,
    value = "",
  ): boolean =>
    expectedValues === null ||
    expectedValues === undefined ||
    [expectedValues].flat().includes(value);
  return blocks.flatMap((block) =>
    serializeLogs(view, block)
      .filter(({ address }) => matchesFilter(filter.address, address))
      .filter(({ topics }) =>
        (filter.topics ?? []).every((topic, topicIndex) =>
          matchesFilter(topic, topics[topicIndex]),
        ),
      ),
  );
};

/**
 * A log with unrelated data in the same transaction as a payment. It is from a contract that is
 * never queried.
 */
const createPaddingLog = (bytes: number): ChainLog => ({
  address: `0x${"5a".repeat(20)}`,
  topics: [],
  data: `0x${"00".repeat(bytes)}`,
});

const listLogs = ({ paddingBytes, isSuccessful, logs }: Transaction): readonly ChainLog[] => {
  if (!isSuccessful) return [];
  return paddingBytes === 0 ? logs : [...logs, createPaddingLog(paddingBytes)];
};

const serializeLogs = (view: NodeView, block: Block) =>
  view
    .getTransactions(block)
    .flatMap((transaction, index) =>
      listLogs(transaction).map((log) => ({
        ...log,
        blockNumber: toQuantity(block.number),
        blockHash: view.getHash(block),
        transactionHash: transaction.hash,
        transactionIndex: toQuantity(index),
        removed: false,
      })),
    )
    .map((log, logIndex) => ({ ...log, logIndex: toQuantity(logIndex) }));

const serializeReceipt = (view: NodeView, block: Block, transaction: Transaction): unknown => ({
  transactionHash: transaction.hash,
  blockNumber: toQuantity(block.number),
  blockHash: view.getHash(block),
  status: transaction.isSuccessful ? "0x1" : "0x0",
  from: transaction.from,
  logs: hidesReceipts(view.behavior)
    ? []
    : serializeLogs(view, block).filter(
        ({ transactionHash }) => transactionHash === transaction.hash,
      ),
});

const findReceipt = (view: NodeView, hash: unknown): unknown => {
  const transactionInBlock = findTransaction(view, hash);
  if (transactionInBlock === undefined || view.behavior.kind === "omits receipts") return null;
  return serializeReceipt(view, transactionInBlock.block, transactionInBlock.transaction);
};

const serializeTransaction = (view: NodeView, hash: unknown): unknown => {
  const transactionInBlock = findTransaction(view, hash);
  if (transactionInBlock === undefined || view.behavior.kind === "omits receipts") return null;
  const { block, transaction } = transactionInBlock;
  return {
    hash: transaction.hash,
    nonce: toQuantity(transaction.nonce),
    from: transaction.from,
    // Calldata that does not name a link.
    to: transaction.logs[0]?.address ?? null,
    input: "0x",
    blockNumber: toQuantity(block.number),
    blockHash: view.getHash(block),
  };
};

const countSentTransactions = (view: NodeView, address: string, toBlock: number): number => {
  const block = view.blocks[toBlock];
  if (block !== undefined && view.isPruned(block)) throw new RpcError(-32_000, "missing trie node");
  return view.blocks
    .slice(0, toBlock + 1)
    .flatMap((block) => view.getTransactions(block))
    .filter(({ from }) => from === address.toLowerCase()).length;
};

const catalogue = loadCatalogue();

/** Returns a token's decimals, or its symbol as an ABI string. */
const callTokenMethod = (kind: ChainKind, { to, data }: { to: string; data: string }): string => {
  const matchedToken = kind.tokens.find((candidate) => candidate.nodeAddress === to.toLowerCase());
  const token = matchedToken === undefined ? undefined : catalogue.findToken(matchedToken.id);
  if (token === undefined) throw new RpcError(-32_000, "execution reverted");
  return callToken(token, data);
};
