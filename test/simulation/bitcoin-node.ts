import { type HandleRpc, RpcError } from "@payment-links/local-chains/serve-json-rpc";
import type { Block, Transaction } from "./block.ts";
import {
  serializeBlockBody,
  serializeHeader,
  serializeTransaction,
  createCoinbase,
  hashHeader,
} from "./bitcoin-bytes.ts";
import type { BitcoinMempool } from "./bitcoin-mempool.ts";
import { type NodeView, alterTransactions, servesOtherChain } from "./node-view.ts";

/** Error codes from Bitcoin Core's `rpc/protocol.h`. btcd uses different codes for some errors. */
const errorCodes = {
  misc: -1,
  notFound: -5,
  outOfRange: -8,
  btcdOutOfRange: -1,
  btcdInternal: -32_603,
};

/** Returns a function that handles an RPC call like a Bitcoin node. */
export const createBitcoinNode = (view: NodeView): HandleRpc => {
  const node = { ...view, ...createBlockHashes(view) };
  const unconfirmed = listUnconfirmed(view);
  return (method, params) => {
    switch (method) {
      case "getblockcount":
        return view.blocks.length - 1;
      case "getblockhash":
        return getBlockHash(node, params[0] as number);
      case "getblockheader": {
        const block = findKnownBlock(node, params[0] as string);
        return params[1] === true
          ? serializeHeaderInfo(node, block)
          : node.getHeader(block).toString("hex");
      }
      case "getblock": {
        const block = findKnownBlock(node, params[0] as string);
        if (view.isPruned(block)) throw createPrunedError(node);
        const body = serializeBlockBody(block, view.getTransactions(block));
        return Buffer.concat([node.getHeader(block), body]).toString("hex");
      }
      case "getrawmempool":
        return view.behavior.kind === "omits logs" || servesOtherChain(view)
          ? []
          : unconfirmed.map(({ hash }) => hash);
      case "getrawtransaction":
        return serializeTransactionResult(node, unconfirmed, params as [string, number]);
      case "gettxout":
        return serializeOutput(node, params as [string, number]);
      default:
        throw new RpcError(-32_601, "Method not found");
    }
  };
};

/** The genesis block of Bitcoin's regtest chain. */
const regtestGenesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206";

type BitcoinNodeView = NodeView & ReturnType<typeof createBlockHashes>;

/**
 * Returns the number of the first block that a misreporting node changes, or Infinity if there is
 * none.
 */
const findFirstAlteredBlock = ({ blocks, behavior }: NodeView): number => {
  if (servesOtherChain({ behavior })) return 0;
  if (behavior.kind === "renames blocks") return Math.max(1, behavior.firstBlock);
  if (behavior.kind === "invents") return Math.max(1, ...behavior.forgedTransactions.keys());
  if (behavior.kind !== "alters") return Infinity;
  const isAltered = ({ hash }: Transaction) => behavior.alteredTransactions.has(hash);
  return blocks.find(({ transactions }) => transactions.some(isAltered))?.number ?? Infinity;
};

/** Computes headers and hashes. A node that alters a block changes the hashes of all later blocks. */
const createBlockHashes = (view: NodeView) => {
  const firstAlteredBlock = findFirstAlteredBlock(view);
  const cachedHashes = new Map<Block, string>();
  const getHeader = (block: Block): Buffer => {
    const transactions = view.getTransactions(block);
    const parentHash = block.parent === undefined ? "" : getHash(block.parent);
    return serializeHeader({
      block,
      parentHash,
      transactions,
      nonce: block.number >= firstAlteredBlock ? 1 : 0,
    });
  };
  const getHash = (block: Block): string => {
    if (servesOtherChain(view) && block.number === 0) return regtestGenesis;
    if (block.number < firstAlteredBlock) return block.hash;
    const hash = cachedHashes.get(block) ?? hashHeader(getHeader(block));
    cachedHashes.set(block, hash);
    return hash;
  };
  return { getHeader, getHash };
};

/** Returns the transactions in a node's mempool. A lagging node has not received the new ones. */
const listUnconfirmed = ({
  blocks,
  chain,
  behavior,
  nodeProgram,
}: NodeView): readonly Transaction[] => {
  const tip = blocks.at(-1);
  if (tip === undefined) return [];
  const isLagging = behavior.kind === "lags" || behavior.kind === "stands still";
  const maxSequenceNumber = isLagging ? tip.sequenceNumber : Infinity;
  const unconfirmed = getMempool(chain).listUnconfirmed(tip, {
    maxSequenceNumber,
    acceptsReplacement: () => nodeProgram.acceptsReplacement,
  });
  if (behavior.kind === "alters") return alterTransactions(unconfirmed, behavior);
  const forgedTransactions = behavior.kind === "invents" ? [...behavior.forgedTransactions] : [];
  return [
    ...unconfirmed,
    ...forgedTransactions.flatMap(([number, forgedTransaction]) =>
      number > tip.number ? [forgedTransaction] : [],
    ),
  ];
};

const getMempool = ({ bitcoinMempool }: NodeView["chain"]): BitcoinMempool => {
  if (bitcoinMempool === undefined) throw new TypeError("a chain of Bitcoin has coins");
  return bitcoinMempool;
};

const getBlockHash = (node: BitcoinNodeView, number: number): string => {
  const block = node.blocks[number];
  if (block !== undefined) return node.getHash(block);
  throw node.nodeProgram.isCore
    ? new RpcError(errorCodes.outOfRange, "Block height out of range")
    : new RpcError(errorCodes.btcdOutOfRange, "Block number out of range");
};

/** Finds a block of the node's chain. Bitcoin Core also knows the orphaned blocks that it has received. */
const findKnownBlock = (node: BitcoinNodeView, hash: string): Block => {
  const matchedBlock =
    node.blocks.find((block) => node.getHash(block) === hash) ??
    listOrphanedBlocks(node).find((block) => block.hash === hash);
  if (matchedBlock !== undefined) return matchedBlock;
  throw node.nodeProgram.isCore
    ? new RpcError(errorCodes.notFound, "Block not found")
    : new RpcError(errorCodes.btcdInternal, "Block not found");
};

const createPrunedError = ({ countPrunedRequest, nodeProgram }: BitcoinNodeView): RpcError => {
  countPrunedRequest();
  return nodeProgram.isCore
    ? new RpcError(errorCodes.misc, "Block not available (pruned data)")
    : new RpcError(errorCodes.notFound, "Block not found");
};

const listOrphanedBlocks = (view: NodeView): readonly Block[] => {
  const { blocks, chain, nodeProgram } = view;
  const maxSequenceNumber = blocks.at(-1)?.sequenceNumber ?? 0;
  const chainBlocks = new Set(blocks);
  return nodeProgram.isCore && findFirstAlteredBlock(view) === Infinity
    ? chain
        .allBlocks()
        .filter((block) => block.sequenceNumber < maxSequenceNumber && !chainBlocks.has(block))
    : [];
};

const serializeHeaderInfo = (node: BitcoinNodeView, block: Block): unknown => {
  const isOnChain = node.blocks.includes(block);
  return {
    hash: isOnChain ? node.getHash(block) : block.hash,
    confirmations: isOnChain ? node.blocks.length - block.number : -1,
    height: block.number,
    time: block.timestampSeconds,
  };
};

/**
 * Serializes a transaction. Bitcoin Core's index contains the transactions of orphaned blocks. A
 * pruned node has no index, because neither Bitcoin Core nor btcd supports both.
 */
const serializeTransactionResult = (
  node: BitcoinNodeView,
  unconfirmed: readonly Transaction[],
  [hash, verbosity]: [string, number],
): unknown => {
  const { behavior, getTransactions } = node;
  const holdsTransaction = (block: Block) =>
    createCoinbase(block).hash === hash ||
    getTransactions(block).some((candidate) => candidate.hash === hash);
  const includingBlock = node.blocks.slice(1).find(holdsTransaction);
  const unconfirmedTransaction =
    includingBlock === undefined
      ? unconfirmed.find((candidate) => candidate.hash === hash)
      : undefined;
  const orphanedBlock =
    includingBlock === undefined && unconfirmedTransaction === undefined
      ? listOrphanedBlocks(node).find(holdsTransaction)
      : undefined;
  const block = behavior.kind === "prunes" ? undefined : (includingBlock ?? orphanedBlock);
  if (
    behavior.kind === "omits receipts" ||
    (block === undefined && unconfirmedTransaction === undefined)
  ) {
    throw new RpcError(errorCodes.notFound, "No such mempool or blockchain transaction");
  }
  const confirmedTransaction =
    block && getTransactions(block).find((candidate) => candidate.hash === hash);
  const transaction = unconfirmedTransaction ?? confirmedTransaction;
  const bytes =
    transaction === undefined && block !== undefined
      ? createCoinbase(block).bytes
      : serializeTransaction(transaction ?? { inputs: [], outputs: [] });
  if (verbosity === 0) return bytes.toString("hex");
  const blockhash = block && (orphanedBlock === undefined ? node.getHash(block) : block.hash);
  const confirmations =
    includingBlock === undefined ? 0 : node.blocks.length - includingBlock.number;
  return { hex: bytes.toString("hex"), ...(blockhash && { blockhash, confirmations }) };
};

const serializeOutput = (node: BitcoinNodeView, [hash, index]: [string, number]): unknown => {
  const transactions = node.blocks.flatMap((block) => node.getTransactions(block));
  const output = transactions.find((transaction) => transaction.hash === hash)?.outputs[index];
  const isSpent = transactions.some(({ inputs }) => inputs.includes(`${hash}:${index}`));
  return output === undefined || isSpent ? null : { scriptPubKey: { hex: output.script } };
};
