import { openCatalogue } from "@payment-links/contracts";
import {
  type Block,
  type Chain,
  type ChainLog,
  type Transaction,
  bloomOfBlock,
  chainId,
  finalDepth,
  lineage,
  safeDepth,
} from "./chain.ts";
import type { World } from "./world.ts";

type Call = { id: unknown; method: string; params: readonly unknown[] };

/** How a provider treats whoever asks. */
export type Manner =
  | { kind: "honest" }
  /** So many blocks behind the others. */
  | { kind: "lags"; blocks: number }
  /** It stays on what was the newest block when it began, also where a fork took that away. */
  | { kind: "stands still"; tip: Block }
  | { kind: "is silent" }
  | { kind: "refuses"; status: number }
  /** It leaves out the proxy's logs, and may leave them out of its blooms, too. */
  | { kind: "omits logs"; hidesBlooms: boolean }
  /** It knows of no receipt. */
  | { kind: "omits receipts" }
  /** It holds other blocks than the others, from one on. */
  | { kind: "renames blocks"; from: number }
  /** It tells of transactions that nobody made, with all that proves them. */
  | { kind: "invents"; forged: ReadonlyMap<number, Transaction> };

export type Provider = { host: string; manner: Manner };

/** The answer of an HTTP request; `never` if it does not come. */
export type NodeAnswer = { word: string; status: number; body: string } | "never";

const hex = (value: number): string => `0x${value.toString(16)}`;
const word = (value: number): string => value.toString(16).padStart(64, "0");

class NodeError extends Error {}

/** The HTTP side of a provider: JSON-RPC over the chain as it sees it. */
export const answerAsNode = (
  { chain, world }: { chain: Chain; world: World },
  { manner }: Provider,
  text: string,
): NodeAnswer => {
  const asked = JSON.parse(text) as Call | Call[];
  const calls = Array.isArray(asked) ? asked : [asked];
  const methods = [...new Set(calls.map(({ method }) => method.replace("eth_", "")))].join();
  world.count(`a node ${manner.kind}`);
  if (manner.kind === "is silent") return "never";
  if (manner.kind === "refuses") {
    return { word: `${methods} ${manner.status}`, status: manner.status, body: "" };
  }
  const view = openView(chain, manner);
  const replies = calls.map((call) => {
    try {
      return { jsonrpc: "2.0", id: call.id, result: answerCall(view, call) };
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { jsonrpc: "2.0", id: call.id, error: { code: -32000, message: error.message } };
    }
  });
  return {
    word: `${calls.length} ${methods}`,
    status: 200,
    body: JSON.stringify(Array.isArray(asked) ? replies : replies[0]),
  };
};

type View = {
  manner: Manner;
  blocks: readonly Block[];
  hashOf: (block: Block) => string;
  transactionsOf: (block: Block) => readonly Transaction[];
};

const openView = (chain: Chain, manner: Manner): View => {
  const tip =
    manner.kind === "lags"
      ? chain.ofDepth(manner.blocks)
      : manner.kind === "stands still"
        ? manner.tip
        : chain.tip();
  return {
    manner,
    blocks: lineage(tip),
    hashOf: (block) =>
      manner.kind === "renames blocks" && block.number >= manner.from
        ? `0xbad${block.hash.slice(5)}`
        : block.hash,
    transactionsOf: (block) => {
      const forged = manner.kind === "invents" ? manner.forged.get(block.number) : undefined;
      return forged === undefined ? block.transactions : [...block.transactions, forged];
    },
  };
};

const answerCall = (view: View, { method, params }: Call): unknown => {
  const head = view.blocks.length - 1;
  switch (method) {
    case "eth_chainId":
      return hex(Number(chainId));
    case "eth_blockNumber":
      return hex(head);
    case "eth_getBlockByNumber":
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
      return hex(countSent(view, String(params[0]), readNumber(params[1], head)));
    case "eth_getCode":
      return "0x6001";
    case "eth_call":
      return showToken(params[0] as { to: string; data: string });
    default:
      throw new NodeError(`the method ${method} does not exist`);
  }
};

const readNumber = (tag: unknown, head: number): number => {
  if (tag === "latest" || tag === "pending") return head;
  if (tag === "safe") return Math.max(0, head - safeDepth);
  if (tag === "finalized") return Math.max(0, head - finalDepth);
  return Number(tag);
};

const findBlock = (view: View, hash: unknown): Block | undefined =>
  view.blocks.find((block) => view.hashOf(block) === hash);

const showBlock = (view: View, block: Block | undefined): unknown =>
  block === undefined
    ? null
    : {
        number: hex(block.number),
        hash: view.hashOf(block),
        parentHash: block.parent === undefined ? `0x${word(0)}` : view.hashOf(block.parent),
        timestamp: hex(block.timestampSeconds),
        logsBloom: bloomOfBlock({
          ...block,
          transactions: isHiding(view.manner) ? [] : view.transactionsOf(block),
        }),
        transactions: view.transactionsOf(block).map((transaction) => transaction.hash),
      };

const isHiding = (manner: Manner): boolean => manner.kind === "omits logs" && manner.hidesBlooms;

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
    return view.blocks.slice(readNumber(fromBlock, head), readNumber(toBlock, head) + 1);
  }
  const block = findBlock(view, blockHash);
  if (block === undefined) throw new NodeError("unknown block");
  return [block];
};

const showLogs = (view: View, filter: LogFilter): unknown => {
  if (view.manner.kind === "omits logs") {
    listBlocks(view, filter);
    return [];
  }
  const matches = (wanted: string | readonly string[] | null | undefined, found = ""): boolean =>
    wanted === null || wanted === undefined || [wanted].flat().includes(found);
  return listBlocks(view, filter).flatMap((block) =>
    placeLogs(view, block)
      .filter(({ log }) => matches(filter.address, log.address))
      .filter(({ log }) =>
        (filter.topics ?? []).every((topic, at) => matches(topic, log.topics[at])),
      )
      .map(({ shown }) => shown),
  );
};

const placeLogs = (view: View, block: Block): { log: ChainLog; shown: object }[] => {
  let logIndex = -1;
  return view.transactionsOf(block).flatMap((transaction, index) =>
    (transaction.isSuccessful ? transaction.logs : []).map((log) => {
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

const findTransaction = (view: View, hash: unknown) => {
  for (const block of view.blocks) {
    const transaction = view.transactionsOf(block).find((one) => one.hash === hash);
    if (transaction !== undefined) return { block, transaction };
  }
  return undefined;
};

const receiptOf = (view: View, block: Block, transaction: Transaction): unknown => ({
  transactionHash: transaction.hash,
  blockNumber: hex(block.number),
  blockHash: view.hashOf(block),
  status: transaction.isSuccessful ? "0x1" : "0x0",
  from: transaction.from,
  logs: placeLogs(view, block)
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
  return view.transactionsOf(block).map((transaction) => receiptOf(view, block, transaction));
};

const showTransaction = (view: View, hash: unknown): unknown => {
  const found = findTransaction(view, hash);
  if (found === undefined || view.manner.kind === "omits receipts") return null;
  const { block, transaction } = found;
  return {
    hash: transaction.hash,
    nonce: hex(transaction.nonce),
    from: transaction.from,
    blockNumber: hex(block.number),
    blockHash: view.hashOf(block),
  };
};

const countSent = (view: View, address: string, toBlock: number): number =>
  view.blocks
    .slice(0, toBlock + 1)
    .flatMap((block) => view.transactionsOf(block))
    .filter(({ from }) => from === address.toLowerCase()).length;

const catalogue = openCatalogue();
const decimalsSelector = "0x313ce567";

/** A token's decimals, or its symbol as an ABI string. */
const showToken = ({ to, data }: { to: string; data: string }): string => {
  const token = catalogue.tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase());
  if (token === undefined) throw new NodeError("execution reverted");
  if (data.startsWith(decimalsSelector)) return `0x${word(token.decimals)}`;
  const text = Buffer.from(token.symbol).toString("hex").padEnd(64, "0");
  return `0x${word(32)}${word(token.symbol.length)}${text}`;
};
