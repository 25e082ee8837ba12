import { computeBloom } from "@payment-links/local-chains/evm/compute-bloom";
import { proxyTopic } from "@payment-links/local-chains/evm/encode-logs";
import {
  type Block,
  type CreateTransaction,
  type Mempool,
  type TransactionContent,
  type Transaction,
  emptyContent,
  finalDepth,
  listChainBlocks,
  safeDepth,
} from "./block.ts";
import type { ChainKind } from "./chain-kinds.ts";
import { createBitcoinMempool } from "./bitcoin-mempool.ts";
import type { ModelTransfer } from "./model-transfer.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/**
 * A regular fork never orphans a transfer that was settled at `safe`. Deeper forks are a separate
 * event.
 */
const forkBlocksMax = safeDepth - 1;

/**
 * Computes a block's bloom filter. Excludes references, because they are not derived from the seed.
 */
export const computeBlockBloom = ({ transactions }: Pick<Block, "transactions">): string =>
  computeBloom(
    transactions
      .filter(({ isSuccessful }) => isSuccessful)
      .flatMap(({ logs }) => logs)
      .flatMap(({ address, topics }) => [
        address,
        ...(topics[0] === proxyTopic ? topics.slice(0, 1) : topics),
      ]),
  );

/**
 * A few of these transactions exceed the size limit of a batch response. A Bitcoin block contains
 * at most 4 million bytes.
 */
const paddingBytesMax = { EVM: 1_000_000, TVM: 1_000_000, SVM: 1_000_000, BVM: 100_000 };

/** Creates a mempool that mines each payer's transactions in nonce order. */
const createNonceMempool = (
  { random }: SimulatedWorld,
  createTransaction: CreateTransaction,
): Mempool => {
  const pendingTransactions: Transaction[] = [];
  const nextNonces = new Map<string, number>();
  return {
    initialTransactions: [],
    send: (_tip, from, content) => {
      const nonce = nextNonces.get(from) ?? 0;
      nextNonces.set(from, nonce + 1);
      const transaction = createTransaction({ ...emptyContent, ...content, from, nonce });
      pendingTransactions.push(transaction);
      return transaction;
    },
    takeForBlock: () => {
      const selected: Transaction[] = [];
      for (const transaction of pendingTransactions.slice()) {
        const isNextNonce = !pendingTransactions.some(
          (otherTransaction) =>
            otherTransaction.from === transaction.from &&
            otherTransaction.nonce < transaction.nonce,
        );
        if (!isNextNonce || random.chance(0.25)) continue;
        pendingTransactions.splice(pendingTransactions.indexOf(transaction), 1);
        selected.push(transaction);
      }
      return selected;
    },
    onOrphaned: (orphanedTransactions) => {
      for (const transaction of orphanedTransactions) {
        if (random.chance(0.25)) {
          // The payer has used the nonce for another transaction.
          for (const transfer of transaction.modelTransfers) {
            if (transfer.isFinal) transfer.isDoubtful = true;
            else transfer.finalStatus = "failed";
          }
          pendingTransactions.push(
            createTransaction({
              ...transaction,
              logs: [],
              transfers: [],
              modelTransfers: [],
              paddingBytes: 0,
            }),
          );
        } else {
          pendingTransactions.push(transaction);
          for (const transfer of transaction.modelTransfers)
            if (transfer.isFinal) transfer.isMovedToLaterBlock = true;
        }
      }
      pendingTransactions.sort((a, b) => (a.from === b.from ? a.nonce - b.nonce : 0));
    },
    isEmpty: () => pendingTransactions.length === 0,
    onFinalized: () => {},
  };
};

/**
 * Creates the true chain with its pending and mined transactions. Forks orphan transactions and
 * mine them again. `getRequiredDepth` returns the depth at which a payment is permanently settled.
 * `hasHeavyTransactions` adds large unrelated data to some transactions.
 */
export const createChain = (
  world: SimulatedWorld,
  kind: ChainKind,
  {
    getRequiredDepth,
    hasHeavyTransactions,
  }: {
    getRequiredDepth: (transfer: Pick<ModelTransfer, "amount">) => number;
    hasHeavyTransactions: boolean;
  },
) => {
  const { random } = world;
  let lastSequenceNumber = 0;
  const nextSequenceNumber = (): number => (lastSequenceNumber += 1);
  const createTransaction: CreateTransaction = (transaction) => {
    const sequenceNumber = nextSequenceNumber();
    const hash = kind.hashTransaction({ ...transaction, sequenceNumber });
    return { ...transaction, sequenceNumber, hash };
  };
  const bitcoinMempool =
    kind.chainType === "BVM" ? createBitcoinMempool(world, createTransaction) : undefined;
  const mempool = bitcoinMempool ?? createNonceMempool(world, createTransaction);
  const allBlocks: Block[] = [];
  const sentTransactions: Transaction[] = [];
  let timeSeconds = 0;

  const generatePadding = (): Pick<Transaction, "paddingBytes"> => {
    if (!hasHeavyTransactions || random.chance(0.3)) return { paddingBytes: 0 };
    world.count("heavy transactions");
    const bytesMax = paddingBytesMax[kind.chainType];
    return { paddingBytes: bytesMax / 2 + random.below(bytesMax / 2) };
  };

  const generateSkippedSlots = (): number =>
    kind.chainType === "SVM" && random.chance(0.2) ? 1 + random.below(2) : 0;

  const createBlock = (parent: Block | undefined, transactions: readonly Transaction[]): Block => {
    timeSeconds = Math.max(timeSeconds, Math.floor(world.nowMs() / 1000));
    const block = {
      number: parent === undefined ? 0 : parent.number + 1,
      slot: parent === undefined ? 0 : parent.slot + 1 + generateSkippedSlots(),
      sequenceNumber: nextSequenceNumber(),
      parent,
      timestampSeconds: timeSeconds,
      transactions,
    };
    const hashedBlock = { ...block, hash: kind.hashBlock(block) };
    allBlocks.push(hashedBlock);
    return hashedBlock;
  };

  let tip = createBlock(undefined, []);
  for (let height = 1; height <= finalDepth + 2; height += 1) {
    tip = createBlock(tip, height === 1 ? mempool.initialTransactions : []);
  }

  const blockAtDepth = (depth: number): Block => {
    let block = tip;
    for (let step = 0; step < depth && block.parent !== undefined; step += 1) block = block.parent;
    return block;
  };

  /** Marks transfers that have reached their required depth as final. */
  const finalizeTransfers = (): void => {
    for (let depth = 0; depth <= finalDepth; depth += 1) {
      const { timestampSeconds, transactions } = blockAtDepth(depth);
      for (const transfer of transactions.flatMap(({ modelTransfers }) => modelTransfers)) {
        if (getRequiredDepth(transfer) !== depth) continue;
        transfer.isFinal = true;
        transfer.occurredAt = new Date(timestampSeconds * 1000);
      }
    }
    mempool.onFinalized(blockAtDepth(finalDepth));
  };

  /** Mines one block with some of the pending transactions. */
  const mineBlock = (): void => {
    tip = createBlock(tip, mempool.takeForBlock(tip));
    finalizeTransfers();
  };

  return {
    tip: () => tip,
    blockAtDepth,
    mineBlock,
    /** The mempool of Bitcoin. Undefined for other chains. */
    bitcoinMempool,
    /** Returns all blocks that were ever mined, in order. */
    allBlocks: (): readonly Block[] => allBlocks,
    /** Returns true if all transactions that were ever sent are final. */
    isFinalized: () =>
      mempool.isEmpty(tip) &&
      listChainBlocks(tip)
        .slice(-finalDepth - 1)
        .every(({ transactions }) => transactions.length === 0),
    send: (from: string, content: TransactionContent): Transaction => {
      const transaction = mempool.send(tip, from, { ...content, ...generatePadding() });
      sentTransactions.push(transaction);
      return transaction;
    },
    /** Returns all transactions that payers have sent, in order, without replacements. */
    sentTransactions: (): readonly Transaction[] => sentTransactions,
    /** Creates a transaction that is never included in a block. */
    forgeTransaction: (from: string, content: TransactionContent): Transaction => {
      const nonce = lastSequenceNumber + 1;
      const inputs = kind.chainType === "BVM" ? [`${from}:${nonce}`] : [];
      return createTransaction({
        ...emptyContent,
        ...content,
        from,
        inputs,
        nonce,
        modelTransfers: [],
      });
    },
    /**
     * Replaces the newest blocks. Their transactions become pending again or are replaced. A deep
     * fork orphans final blocks.
     */
    forkChain: ({ isDeep }: { isDeep: boolean }): { depth: number; forkPoint: Block } => {
      const depth = isDeep ? finalDepth + 1 + random.below(3) : 1 + random.below(forkBlocksMax);
      const forkPoint = blockAtDepth(depth);
      const orphanedBlocks = listChainBlocks(tip).slice(forkPoint.number + 1);
      tip = forkPoint;
      mempool.onOrphaned(orphanedBlocks.flatMap(({ transactions }) => transactions));
      for (let minedCount = 0; minedCount <= depth; minedCount += 1) mineBlock();
      return { depth, forkPoint };
    },
  };
};

export type Chain = ReturnType<typeof createChain>;
