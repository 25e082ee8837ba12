import { type Block, type Transaction, listChainBlocks } from "./block.ts";
import type { Chain } from "./chain.ts";
import type { ChainKind } from "./chain-kinds.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** A JSON-RPC call. */
export type RpcCall = { id: unknown; method: string; params: readonly unknown[] };

/** How a provider treats whoever asks. */
export type NodeBehavior =
  | { kind: "honest" }
  /** So many blocks behind the others. */
  | { kind: "lags"; lagBlocks: number }
  /**
   * Each request reaches one of several nodes, of which some are so many blocks behind. Which one it is may
   * depend on what is asked: the slowest answers all requests for transactions.
   */
  | { kind: "balances"; lagBlocksMax: number; dependsOnMethod: boolean }
  /** It serves another chain: nothing of ours is there. */
  | { kind: "serves another chain" }
  /** It stays on what was the newest block when it began, also where a fork took that away. */
  | { kind: "stands still"; tip: Block }
  | { kind: "is silent" }
  | { kind: "refuses"; status: number }
  /**
   * It has forgotten what its blocks held, but of its newest ones. Who asks for what may pay links in older
   * ones is told all the same, is refused, or hears nothing of them.
   */
  | { kind: "prunes"; retainedBlocks: number; olderBlocks: "told" | "refused" | "left out" }
  /** It leaves out all logs: of answers, or of blooms as well, or of receipts, too. */
  | { kind: "omits logs"; omittedFrom: "answers" | "blooms" | "receipts" }
  /** It knows of no receipt. */
  | { kind: "omits receipts" }
  /** It holds other blocks than the others, from one on. */
  | { kind: "renames blocks"; firstBlock: number }
  /** It tells of transactions that nobody made, with all that proves them. */
  | { kind: "invents"; forgedTransactions: ReadonlyMap<number, Transaction> }
  /** It shows some transactions as others than they are, by their hashes, with all that proves them. */
  | { kind: "alters"; alteredTransactions: Map<string, Transaction> };

/** What a provider's node does as its program and its settings have it. */
type NodeProgram = {
  /** Bitcoin's: whether it is Bitcoin Core, which also tells of blocks that lost. */
  isCore: boolean;
  /** Bitcoin's: whether of two transactions that spend the same the later one takes the first one's place. */
  acceptsReplacement: boolean;
};

export type Provider = { host: string; behavior: NodeBehavior; nodeProgram: NodeProgram };

/** What a node refuses with. */
export class NodeError extends Error {
  readonly code: number;
  constructor(message: string, code = -32_000) {
    super(message);
    this.code = code;
  }
}

/** A chain as one provider sees it, and tells of it. */
export type NodeView = {
  kind: ChainKind;
  behavior: NodeBehavior;
  nodeProgram: NodeProgram;
  chain: Chain;
  blocks: readonly Block[];
  getHash: (block: Block) => string;
  getTransactions: (block: Block) => readonly Transaction[];
  /** Whether it has forgotten what a block held. */
  isPruned: (block: Block) => boolean;
  /** Says that something was asked for which it has forgotten. */
  countPrunedRequest: () => void;
  /** Without the blocks that it has forgotten, and as if it had been asked for no others. */
  omitPruned: (blocks: readonly Block[]) => readonly Block[];
};

/** What a provider sees, as it treats who asks. */
export const createNodeView = (
  { chain, kind, world }: { chain: Chain; kind: ChainKind; world: SimulatedWorld },
  { behavior, nodeProgram }: Pick<Provider, "behavior" | "nodeProgram">,
  calls: readonly RpcCall[],
): NodeView => {
  const tip = getVisibleTip({ chain, world }, behavior, calls);
  const isPruned = ({ number }: Block) =>
    behavior.kind === "prunes" && number <= tip.number - behavior.retainedBlocks;
  const countPrunedRequest = () => world.count("questions for what a node has forgotten");
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

/** Whether a node serves another chain than ours. */
export const servesOtherChain = ({ behavior }: { behavior: NodeBehavior }): boolean =>
  behavior.kind === "serves another chain";

/** The newest block that whoever answers has. */
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

/** What a node that alters makes of transactions. */
export const alterTransactions = (
  transactions: readonly Transaction[],
  { alteredTransactions }: NodeBehavior & { kind: "alters" },
): readonly Transaction[] =>
  transactions.map((transaction) => alteredTransactions.get(transaction.hash) ?? transaction);

/** A block by its hash. */
export const findBlock = (view: NodeView, hash: unknown): Block | undefined =>
  view.blocks.find((block) => view.getHash(block) === hash);

/** A transaction, and the block in which this node has it. */
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
