import { type Block, type Transaction, listChainBlocks } from "./block.ts";
import type { Chain } from "./chain.ts";
import type { ChainKind } from "./chain-kinds.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

export type RpcCall = { method: string };

/** How a provider responds to requests. */
export type NodeBehavior =
  | { kind: "honest" }
  /** The provider lags this many blocks behind the others. */
  | { kind: "lags"; lagBlocks: number }
  /**
   * Each request reaches one of several nodes. Some of the nodes lag by up to this many blocks. The
   * node can depend on the method: the slowest node can handle all transaction requests.
   */
  | { kind: "balances"; lagBlocksMax: number; dependsOnMethod: boolean }
  /** The provider serves another chain, which has none of our blocks. */
  | { kind: "serves another chain" }
  /**
   * The provider stays on the block that was newest at the start, even if a fork orphans that
   * block.
   */
  | { kind: "stands still"; tip: Block }
  | { kind: "is silent" }
  | { kind: "rejects"; status: number }
  /**
   * The provider has pruned the content of all blocks except the newest ones. Requests for payments
   * in older blocks get the data, an error, or an incomplete result.
   */
  | { kind: "prunes"; retainedBlocks: number; olderBlocks: "returned" | "rejected" | "omitted" }
  /**
   * The provider omits all logs: only from results, also from bloom filters, or also from receipts.
   */
  | { kind: "omits logs"; omittedFrom: "results" | "blooms" | "receipts" }
  /** The provider does not return receipts. */
  | { kind: "omits receipts" }
  /** The provider has different blocks than the others, starting with this one. */
  | { kind: "renames blocks"; firstBlock: number }
  /** The provider fabricates transactions that were never sent, with matching proofs. */
  | { kind: "invents"; forgedTransactions: ReadonlyMap<number, Transaction> }
  /** The provider alters some transactions, including all their proofs. The keys are hashes. */
  | { kind: "alters"; alteredTransactions: Map<string, Transaction> };

/** Behavior of a provider's node that depends on its software and settings. */
type NodeProgram = {
  /** Bitcoin only: whether the node is Bitcoin Core, which also returns orphaned blocks. */
  isCore: boolean;
  /** Bitcoin only: whether a later transaction replaces an earlier one that spends the same output. */
  acceptsReplacement: boolean;
};

export type Provider = { host: string; behavior: NodeBehavior; nodeProgram: NodeProgram };

/** A chain as reported by one provider. */
export type NodeView = {
  kind: ChainKind;
  behavior: NodeBehavior;
  nodeProgram: NodeProgram;
  chain: Chain;
  blocks: readonly Block[];
  getHash: (block: Block) => string;
  getTransactions: (block: Block) => readonly Transaction[];
  /** Returns true if the node has pruned the block's content. */
  isPruned: (block: Block) => boolean;
  /** Counts a request for pruned data. */
  countPrunedRequest: () => void;
  /** Returns the blocks that are not pruned. Does not throw an error for the others. */
  omitPruned: (blocks: readonly Block[]) => readonly Block[];
};

/** Creates a provider's view of the chain for one set of calls, according to its behavior. */
export const createNodeView = (
  { chain, kind, world }: { chain: Chain; kind: ChainKind; world: SimulatedWorld },
  { behavior, nodeProgram }: Pick<Provider, "behavior" | "nodeProgram">,
  calls: readonly RpcCall[],
): NodeView => {
  const tip = getVisibleTip({ chain, world }, behavior, calls);
  const isPruned = ({ number }: Block) =>
    behavior.kind === "prunes" && number <= tip.number - behavior.retainedBlocks;
  const countPrunedRequest = () => world.count("requests for pruned data");
  return {
    kind,
    behavior,
    nodeProgram,
    chain,
    blocks: listChainBlocks(tip),
    getHash: (block) =>
      servesOtherChain({ behavior }) ||
      (behavior.kind === "renames blocks" && block.number >= behavior.firstBlock)
        ? kind.alterHash(block.hash)
        : block.hash,
    getTransactions: (block) => {
      if (servesOtherChain({ behavior })) return [];
      if (behavior.kind === "alters") return alterTransactions(block.transactions, behavior);
      const forged =
        behavior.kind === "invents" ? behavior.forgedTransactions.get(block.number) : undefined;
      return forged === undefined ? block.transactions : [...block.transactions, forged];
    },
    isPruned,
    countPrunedRequest,
    omitPruned: (blocks) => {
      const prunedBlocks = blocks.filter(isPruned);
      const transfers = prunedBlocks.flatMap(({ transactions }) =>
        transactions.flatMap((transaction) => transaction.modelTransfers),
      );
      for (const transfer of transfers) transfer.isOmittedByPrunedNode = true;
      if (prunedBlocks.length > 0) countPrunedRequest();
      return blocks.filter((block) => !isPruned(block));
    },
  };
};

export const servesOtherChain = ({ behavior }: { behavior: NodeBehavior }): boolean =>
  behavior.kind === "serves another chain";

/** Returns the newest block of the node that handles the calls. */
const getVisibleTip = (
  { chain, world }: { chain: Chain; world: SimulatedWorld },
  behavior: NodeBehavior,
  calls: readonly RpcCall[],
): Block => {
  if (behavior.kind === "stands still") return behavior.tip;
  if (behavior.kind === "lags") return chain.blockAtDepth(behavior.lagBlocks);
  if (behavior.kind !== "balances") return chain.tip();
  const asksForTransaction = calls.some(({ method }) =>
    /transaction(byhash|receipt)?$/i.test(method),
  );
  if (behavior.dependsOnMethod)
    return chain.blockAtDepth(asksForTransaction ? behavior.lagBlocksMax : 0);
  return chain.blockAtDepth(world.random.below(behavior.lagBlocksMax + 1));
};

/** Returns the transactions as an altering node reports them. */
export const alterTransactions = (
  transactions: readonly Transaction[],
  { alteredTransactions }: NodeBehavior & { kind: "alters" },
): readonly Transaction[] =>
  transactions.map((transaction) => alteredTransactions.get(transaction.hash) ?? transaction);

export const findBlock = (view: NodeView, hash: unknown): Block | undefined =>
  view.blocks.find((block) => view.getHash(block) === hash);

/** Finds a transaction and its block on this node. */
export const findTransaction = (view: NodeView, hash: unknown) => {
  for (const block of view.blocks) {
    const transaction = view.getTransactions(block).find((candidate) => candidate.hash === hash);
    if (transaction === undefined) continue;
    if (!view.isPruned(block)) return { block, transaction };
    view.countPrunedRequest();
    return undefined;
  }
  return undefined;
};
