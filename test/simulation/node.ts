import { openCatalogue } from "@payment-links/contracts";
import { type Block, type ChainLog, type Transaction, finalDepth, safeDepth } from "./block.ts";
import { type Chain, bloomOfBlock } from "./chain.ts";
import {
  type Call,
  type Manner,
  NodeError,
  type Provider,
  type View,
  findBlock,
  findTransaction,
  isOtherChain,
  openView,
} from "./node-view.ts";
import { openBitcoinNode } from "./bitcoin-node.ts";
import { answerSolanaCall } from "./solana-node.ts";
import { type ChainKind, base, tron } from "./chain-kinds.ts";
import type { World } from "./world.ts";

/** The answer of an HTTP request; `never` if it does not come. */
export type NodeAnswer = { word: string; status: number; body: string } | "never";

const hex = (value: number): string => `0x${value.toString(16)}`;
const word = (value: number): string => value.toString(16).padStart(64, "0");

/** geth's refusal, as EIP-4444 has it. */
const pruned = () => new NodeError("pruned history unavailable", 4444);
/** java-tron's refusal of parameters. */
const invalidParams = (message: string) => new NodeError(message, -32_602);
const notThere = (method: string) =>
  new NodeError(`the method ${method} does not exist/is not available`, -32_601);
const tronBusy = {
  Error: "class java.lang.IllegalAccessException : lack of computing resources",
};
const tronRangeMax = 5_000;
const zeroBloom = `0x${"0".repeat(512)}`;

/** The HTTP side of a provider: JSON-RPC over the chain as it sees it. */
export const answerAsNode = (
  { chain, kind, world }: { chain: Chain; kind: ChainKind; world: World },
  { manner, program }: Provider,
  text: string,
): NodeAnswer => {
  const asked = JSON.parse(text) as Call | Call[];
  const calls = Array.isArray(asked) ? asked : [asked];
  const methods = [...new Set(calls.map(({ method }) => method.replace("eth_", "")))].join();
  world.count(`a node ${manner.kind}`);
  if (manner.kind === "is silent") return "never";
  if (manner.kind === "refuses") {
    const isTronBusy = kind === tron && manner.status === 429;
    const [status, body] = isTronBusy ? [200, JSON.stringify(tronBusy)] : [manner.status, ""];
    return { word: `${methods} ${manner.status}`, status, body };
  }
  const view = openView({ chain, kind, world }, { manner, program }, calls);
  const answerCall = answererOf(kind)(view);
  const replies = calls.map((call) => {
    try {
      return { jsonrpc: "2.0", id: call.id, result: answerCall(call) };
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { jsonrpc: "2.0", id: call.id, error: { code: error.code, message: error.message } };
    }
  });
  return {
    word: `${calls.length} ${methods}`,
    status: 200,
    body: JSON.stringify(Array.isArray(asked) ? replies : replies[0]),
  };
};

const answererOf = ({ chainType }: ChainKind): ((view: View) => (call: Call) => unknown) => {
  switch (chainType) {
    case "EVM":
    case "TVM":
      return (view) => (call) => answerEvmCall(view, call);
    case "SVM":
      return (view) => (call) => answerSolanaCall(view, call);
    case "BVM":
      return openBitcoinNode;
  }
};

const answerEvmCall = (view: View, { method, params }: Call): unknown => {
  const head = view.blocks.length - 1;
  switch (method) {
    case "eth_chainId":
      return isOtherChain(view) ? hex(1) : hex(Number(view.kind.nodeChainId));
    case "eth_blockNumber":
      return hex(head);
    case "eth_getBlockByNumber":
      if (view.kind === tron && params[0] === "safe") {
        throw invalidParams("TAG safe not supported");
      }
      return showBlock(view, view.blocks[readNumber(params[0], head)]);
    case "eth_getBlockByHash":
      return showBlock(view, findBlock(view, params[0]));
    case "eth_getLogs":
      return showLogs(view, params[0] as LogFilter);
    case "eth_getTransactionReceipt":
      return showReceipt(view, params[0]);
    case "eth_getBlockReceipts":
      return showReceipts(view, params[0]);
    case "eth_getTransactionByHash":
      return showTransaction(view, params[0]);
    case "eth_getTransactionCount":
      if (view.kind === tron) throw notThere(method);
      return hex(countSent(view, String(params[0]), readNumber(params[1], head)));
    case "eth_getCode":
      return isOtherChain(view) ? "0x" : "0x6001";
    case "eth_call":
      if (isOtherChain(view)) return "0x";
      return showToken(view.kind, params[0] as { to: string; data: string });
    default:
      throw notThere(method);
  }
};

const readNumber = (tag: unknown, head: number): number => {
  if (tag === "latest" || tag === "pending") return head;
  if (tag === "safe") return Math.max(0, head - safeDepth);
  if (tag === "finalized") return Math.max(0, head - finalDepth);
  return Number(tag);
};

const showBlock = (view: View, block: Block | undefined): unknown => {
  if (block === undefined) return null;
  const isBodyKept = view.manner.kind !== "prunes" || view.manner.older !== "refused";
  if (!isBodyKept && view.hasForgotten(block)) throw pruned();
  return {
    number: hex(block.number),
    hash: view.hashOf(block),
    parentHash: block.parent === undefined ? `0x${word(0)}` : view.hashOf(block.parent),
    timestamp: hex(block.timestampSeconds),
    logsBloom: showBloom(view, block),
    transactions: view.transactionsOf(block).map((transaction) => transaction.hash),
  };
};

const showBloom = (view: View, block: Block): string =>
  view.kind === tron
    ? zeroBloom
    : bloomOfBlock({ transactions: isHiding(view.manner) ? [] : view.transactionsOf(block) });

const isHiding = (manner: Manner): boolean =>
  manner.kind === "omits logs" && manner.upTo !== "answers";

const hidesReceipts = (manner: Manner): boolean =>
  manner.kind === "omits logs" && manner.upTo === "receipts";

type LogFilter = {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string | readonly string[];
  topics?: readonly (string | readonly string[] | null)[];
};

const listBlocks = (view: View, { blockHash, fromBlock, toBlock }: LogFilter): readonly Block[] => {
  if (blockHash === undefined) {
    const head = view.blocks.length - 1;
    const [from, to] = [readNumber(fromBlock, head), readNumber(toBlock, head)];
    if (view.kind === tron && from > to) throw invalidParams("please verify: fromBlock <= toBlock");
    if (view.kind === tron && Math.min(to, head) - from > tronRangeMax) {
      throw invalidParams(`exceed max block range: ${tronRangeMax}`);
    }
    return view.blocks.slice(from, to + 1);
  }
  const block = findBlock(view, blockHash);
  if (block === undefined) {
    throw view.kind === tron ? invalidParams("invalid blockHash") : new NodeError("unknown block");
  }
  return [block];
};

const showLogs = (view: View, filter: LogFilter): unknown => {
  const { manner } = view;
  const asked = listBlocks(view, filter);
  if (manner.kind === "omits logs") return [];
  const older = manner.kind === "prunes" ? manner.older : "told";
  if (older === "refused" && asked.some(view.hasForgotten)) {
    view.lacks();
    throw pruned();
  }
  const blocks = older === "left out" ? view.leaveOut(asked) : asked;
  const matches = (wanted: string | readonly string[] | null | undefined, found = ""): boolean =>
    wanted === null || wanted === undefined || [wanted].flat().includes(found);
  return blocks.flatMap((block) =>
    placeLogs(view, block)
      .filter(({ log }) => matches(filter.address, log.address))
      .filter(({ log }) =>
        (filter.topics ?? []).every((topic, at) => matches(topic, log.topics[at])),
      )
      .map(({ shown }) => shown),
  );
};

/** What strangers wrote beside a payment, in a contract that nobody asks for. */
const ballastLog = (bytes: number): ChainLog => ({
  address: `0x${"5a".repeat(20)}`,
  topics: [],
  data: `0x${"00".repeat(bytes)}`,
});

const logsOf = ({ ballastBytes, isSuccessful, logs }: Transaction): readonly ChainLog[] => {
  if (!isSuccessful) return [];
  return ballastBytes === 0 ? logs : [...logs, ballastLog(ballastBytes)];
};

const placeLogs = (view: View, block: Block): { log: ChainLog; shown: object }[] => {
  let logIndex = -1;
  return view.transactionsOf(block).flatMap((transaction, index) =>
    logsOf(transaction).map((log) => {
      logIndex += 1;
      const shown = {
        ...log,
        blockNumber: hex(block.number),
        blockHash: view.hashOf(block),
        transactionHash: transaction.hash,
        transactionIndex: hex(index),
        logIndex: hex(logIndex),
        removed: false,
      };
      return { log, shown };
    }),
  );
};

const receiptOf = (view: View, block: Block, transaction: Transaction): unknown => ({
  transactionHash: transaction.hash,
  blockNumber: hex(block.number),
  blockHash: view.hashOf(block),
  status: transaction.isSuccessful ? "0x1" : "0x0",
  from: transaction.from,
  logs: hidesReceipts(view.manner)
    ? []
    : placeLogs(view, block)
        .map(({ shown }) => shown)
        .filter((shown) => Reflect.get(shown, "transactionHash") === transaction.hash),
});

const showReceipt = (view: View, hash: unknown): unknown => {
  const found = findTransaction(view, hash);
  if (found === undefined || view.manner.kind === "omits receipts") return null;
  return receiptOf(view, found.block, found.transaction);
};

const showReceipts = (view: View, asked: unknown): unknown => {
  const head = view.blocks.length - 1;
  const named = typeof asked === "string" ? asked : Reflect.get(asked as object, "blockHash");
  const block =
    String(named).length === 66 ? findBlock(view, named) : view.blocks[readNumber(named, head)];
  if (block === undefined || view.manner.kind === "omits receipts") return null;
  if (view.hasForgotten(block)) throw pruned();
  return view.transactionsOf(block).map((transaction) => receiptOf(view, block, transaction));
};

const showTransaction = (view: View, hash: unknown): unknown => {
  const found = findTransaction(view, hash);
  if (found === undefined || view.manner.kind === "omits receipts") return null;
  const { block, transaction } = found;
  return {
    hash: transaction.hash,
    nonce: view.kind === tron ? `0x${"0".repeat(16)}` : hex(transaction.nonce),
    from: transaction.from,
    // No calldata that names a link.
    to: transaction.logs[0]?.address ?? null,
    input: "0x",
    blockNumber: hex(block.number),
    blockHash: view.hashOf(block),
  };
};

const countSent = (view: View, address: string, toBlock: number): number => {
  const block = view.blocks[toBlock];
  if (block !== undefined && view.hasForgotten(block)) throw new NodeError("missing trie node");
  return view.blocks
    .slice(0, toBlock + 1)
    .flatMap((block) => view.transactionsOf(block))
    .filter(({ from }) => from === address.toLowerCase()).length;
};

const catalogue = openCatalogue();
const decimalsSelector = "0x313ce567";

/** A token's decimals, or its symbol as an ABI string. */
const showToken = (kind: ChainKind, { to, data }: { to: string; data: string }): string => {
  const known = kind.tokens.find((one) => one.hex === to.toLowerCase());
  const token = known === undefined ? undefined : catalogue.findToken(known.id);
  if (token === undefined) {
    throw kind === base
      ? new NodeError("execution reverted")
      : new NodeError("Smart contract is not exist.", -32_600);
  }
  if (data.startsWith(decimalsSelector)) return `0x${word(token.decimals)}`;
  const text = Buffer.from(token.symbol).toString("hex").padEnd(64, "0");
  return `0x${word(32)}${word(token.symbol.length)}${text}`;
};
