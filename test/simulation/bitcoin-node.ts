import type { Block, Transaction } from "./block.ts";
import {
  bytesOfBody,
  bytesOfHeader,
  bytesOfTransaction,
  coinbaseOf,
  hashOfHeader,
} from "./bitcoin-bytes.ts";
import type { CoinPool } from "./coin-pool.ts";
import { type Call, NodeError, type View, alterAll, isOtherChain } from "./node-view.ts";

/** Of Bitcoin Core's `rpc/protocol.h`; btcd has others for some. */
const codes = {
  misc: -1,
  notFound: -5,
  outOfRange: -8,
  btcdOutOfRange: -1,
  btcdInternal: -32_603,
};

/** A call as a node of Bitcoin answers it. */
export const openBitcoinNode = (view: View): ((call: Call) => unknown) => {
  const node = { ...view, ...openBlocks(view) };
  const waiting = listWaiting(view);
  return ({ method, params }) => {
    switch (method) {
      case "getblockcount":
        return view.blocks.length - 1;
      case "getblockhash":
        return showHash(node, params[0] as number);
      case "getblockheader": {
        const block = findAny(node, params[0] as string);
        return params[1] === true ? showPlace(node, block) : node.headerOf(block).toString("hex");
      }
      case "getblock": {
        const block = findAny(node, params[0] as string);
        if (view.hasForgotten(block)) throw lacked(node);
        const body = bytesOfBody(block, view.transactionsOf(block));
        return Buffer.concat([node.headerOf(block), body]).toString("hex");
      }
      case "getrawmempool":
        return view.manner.kind === "omits logs" || isOtherChain(view)
          ? []
          : waiting.map(({ hash }) => hash);
      case "getrawtransaction":
        return showTransaction(node, waiting, params as [string, number]);
      case "gettxout":
        return showOutput(node, params as [string, number]);
      default:
        throw new NodeError("Method not found", -32_601);
    }
  };
};

/** The first block of Bitcoin's regression test chain. */
const regtestGenesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206";

type Node = View & ReturnType<typeof openBlocks>;

/** From where on a node that lies has blocks of its own. */
const altersFrom = ({ blocks, manner }: View): number => {
  if (isOtherChain({ manner })) return 0;
  if (manner.kind === "renames blocks") return Math.max(1, manner.from);
  if (manner.kind === "invents") return Math.max(1, ...manner.forged.keys());
  if (manner.kind !== "alters") return Infinity;
  const isAltered = ({ hash }: Transaction) => manner.altered.has(hash);
  return blocks.find(({ transactions }) => transactions.some(isAltered))?.number ?? Infinity;
};

/** Headers, and hashes as they are made of them: who alters a block alters all behind it. */
const openBlocks = (view: View) => {
  const from = altersFrom(view);
  const hashes = new Map<Block, string>();
  const headerOf = (block: Block): Buffer => {
    const transactions = view.transactionsOf(block);
    const parentHash = block.parent === undefined ? "" : hashOf(block.parent);
    return bytesOfHeader({ block, parentHash, transactions, nonce: block.number >= from ? 1 : 0 });
  };
  const hashOf = (block: Block): string => {
    if (isOtherChain(view) && block.number === 0) return regtestGenesis;
    if (block.number < from) return block.hash;
    const hash = hashes.get(block) ?? hashOfHeader(headerOf(block));
    hashes.set(block, hash);
    return hash;
  };
  return { headerOf, hashOf };
};

/** What it has heard of: one that is behind hears of nothing new. */
const listWaiting = ({ blocks, chain, manner, program }: View): readonly Transaction[] => {
  const tip = blocks.at(-1);
  if (tip === undefined) return [];
  const isBehind = manner.kind === "lags" || manner.kind === "stands still";
  const untilDrawn = isBehind ? tip.drawn : Infinity;
  const heard = poolOf(chain).waiting(tip, { untilDrawn, replaces: () => program.replaces });
  if (manner.kind === "alters") return alterAll(heard, manner);
  const forged = manner.kind === "invents" ? [...manner.forged] : [];
  return [...heard, ...forged.flatMap(([number, one]) => (number > tip.number ? [one] : []))];
};

const poolOf = ({ coins }: View["chain"]): CoinPool => {
  if (coins === undefined) throw new TypeError("a chain of Bitcoin has coins");
  return coins;
};

const showHash = (node: Node, number: number): string => {
  const block = node.blocks[number];
  if (block !== undefined) return node.hashOf(block);
  throw node.program.isCore
    ? new NodeError("Block height out of range", codes.outOfRange)
    : new NodeError("Block number out of range", codes.btcdOutOfRange);
};

/** A block of its chain; Bitcoin Core also knows those that lost, as far as it has heard of them. */
const findAny = (node: Node, hash: string): Block => {
  const found =
    node.blocks.find((block) => node.hashOf(block) === hash) ??
    lostOf(node).find((block) => block.hash === hash);
  if (found !== undefined) return found;
  throw node.program.isCore
    ? new NodeError("Block not found", codes.notFound)
    : new NodeError("Block not found", codes.btcdInternal);
};

const lacked = ({ lacks, program }: Node): NodeError => {
  lacks();
  return program.isCore
    ? new NodeError("Block not available (pruned data)", codes.misc)
    : new NodeError("Block not found", codes.notFound);
};

const lostOf = (view: View): readonly Block[] => {
  const { blocks, chain, program } = view;
  const untilDrawn = blocks.at(-1)?.drawn ?? 0;
  const own = new Set(blocks);
  return program.isCore && altersFrom(view) === Infinity
    ? chain.sealed().filter((block) => block.drawn < untilDrawn && !own.has(block))
    : [];
};

const showPlace = (node: Node, block: Block): unknown => {
  const isOwn = node.blocks.includes(block);
  return {
    hash: isOwn ? node.hashOf(block) : block.hash,
    confirmations: isOwn ? node.blocks.length - block.number : -1,
    height: block.number,
    time: block.timestampSeconds,
  };
};

/**
 * Bitcoin Core's index keeps the transactions of blocks that lost. Who prunes has no index: neither Bitcoin
 * Core nor btcd has both.
 */
const showTransaction = (
  node: Node,
  waiting: readonly Transaction[],
  [hash, verbosity]: [string, number],
): unknown => {
  const { manner, transactionsOf } = node;
  const holds = (block: Block) =>
    coinbaseOf(block).hash === hash || transactionsOf(block).some((one) => one.hash === hash);
  const holder = node.blocks.slice(1).find(holds);
  const wait = holder === undefined ? waiting.find((one) => one.hash === hash) : undefined;
  const lost = holder === undefined && wait === undefined ? lostOf(node).find(holds) : undefined;
  const block = manner.kind === "prunes" ? undefined : (holder ?? lost);
  if (manner.kind === "omits receipts" || (block === undefined && wait === undefined)) {
    throw new NodeError("No such mempool or blockchain transaction", codes.notFound);
  }
  const held = block && transactionsOf(block).find((one) => one.hash === hash);
  const transaction = wait ?? held;
  const bytes =
    transaction === undefined && block !== undefined
      ? coinbaseOf(block).bytes
      : bytesOfTransaction(transaction ?? { inputs: [], outputs: [] });
  if (verbosity === 0) return bytes.toString("hex");
  const blockhash = block && (lost === undefined ? node.hashOf(block) : block.hash);
  const confirmations = holder === undefined ? 0 : node.blocks.length - holder.number;
  return { hex: bytes.toString("hex"), ...(blockhash && { blockhash, confirmations }) };
};

const showOutput = (node: Node, [hash, index]: [string, number]): unknown => {
  const all = node.blocks.flatMap((block) => node.transactionsOf(block));
  const output = all.find((one) => one.hash === hash)?.outputs[index];
  const isSpent = all.some(({ inputs }) => inputs.includes(`${hash}:${index}`));
  return output === undefined || isSpent ? null : { scriptPubKey: { hex: output.script } };
};
