import { type Block, type Transaction, lineage } from "./block.ts";
import type { Chain } from "./chain.ts";
import type { ChainKind } from "./chain-kinds.ts";
import type { World } from "./world.ts";

/** A JSON-RPC call. */
export type Call = { id: unknown; method: string; params: readonly unknown[] };

/** How a provider treats whoever asks. */
export type Manner =
  | { kind: "honest" }
  /** So many blocks behind the others. */
  | { kind: "lags"; blocks: number }
  /**
   * Each request reaches one of several nodes, of which some are so many blocks behind. Which one it is may
   * depend on what is asked: the slowest answers all requests for transactions.
   */
  | { kind: "balances"; blocksMax: number; isByMethod: boolean }
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
  | { kind: "prunes"; keptBlocks: number; older: "told" | "refused" | "left out" }
  /** It leaves out all logs: of answers, or of blooms as well, or of receipts, too. */
  | { kind: "omits logs"; upTo: "answers" | "blooms" | "receipts" }
  /** It knows of no receipt. */
  | { kind: "omits receipts" }
  /** It holds other blocks than the others, from one on. */
  | { kind: "renames blocks"; from: number }
  /** It tells of transactions that nobody made, with all that proves them. */
  | { kind: "invents"; forged: ReadonlyMap<number, Transaction> }
  /** It shows some transactions as others than they are, by their hashes, with all that proves them. */
  | { kind: "alters"; altered: Map<string, Transaction> };

/** What a provider's node does as its program and its settings have it. */
type Program = {
  /** Bitcoin's: whether it is Bitcoin Core, which also tells of blocks that lost. */
  isCore: boolean;
  /** Bitcoin's: whether of two transactions that spend the same the later one takes the first one's place. */
  replaces: boolean;
};

export type Provider = { host: string; manner: Manner; program: Program };

/** What a node refuses with. */
export class NodeError extends Error {
  readonly code: number;
  constructor(message: string, code = -32_000) {
    super(message);
    this.code = code;
  }
}

/** A chain as one provider sees it, and tells of it. */
export type View = {
  kind: ChainKind;
  manner: Manner;
  program: Program;
  chain: Chain;
  blocks: readonly Block[];
  hashOf: (block: Block) => string;
  transactionsOf: (block: Block) => readonly Transaction[];
  /** Whether it has forgotten what a block held. */
  hasForgotten: (block: Block) => boolean;
  /** Says that something was asked for which it has forgotten. */
  lacks: () => void;
  /** Without the blocks that it has forgotten, and as if it had been asked for no others. */
  leaveOut: (blocks: readonly Block[]) => readonly Block[];
};

/** What a provider sees, as it treats who asks. */
export const openView = (
  { chain, kind, world }: { chain: Chain; kind: ChainKind; world: World },
  { manner, program }: Pick<Provider, "manner" | "program">,
  calls: readonly Call[],
): View => {
  const tip = tipOf({ chain, world }, manner, calls);
  const hasForgotten = ({ number }: Block) =>
    manner.kind === "prunes" && number <= tip.number - manner.keptBlocks;
  const lacks = () => world.count("questions for what a node has forgotten");
  return {
    kind,
    manner,
    program,
    chain,
    blocks: lineage(tip),
    hashOf: (block) =>
      isOtherChain({ manner }) || (manner.kind === "renames blocks" && block.number >= manner.from)
        ? kind.otherHash(block.hash)
        : block.hash,
    transactionsOf: (block) => {
      if (isOtherChain({ manner })) return [];
      if (manner.kind === "alters") return alterAll(block.transactions, manner);
      const forged = manner.kind === "invents" ? manner.forged.get(block.number) : undefined;
      return forged === undefined ? block.transactions : [...block.transactions, forged];
    },
    hasForgotten,
    lacks,
    leaveOut: (blocks) => {
      const hidden = blocks.filter(hasForgotten);
      const money = hidden.flatMap(({ transactions }) => transactions.flatMap((one) => one.money));
      for (const one of money) one.isLeftOut = true;
      if (hidden.length > 0) lacks();
      return blocks.filter((block) => !hasForgotten(block));
    },
  };
};

/** Whether a node serves another chain than ours. */
export const isOtherChain = ({ manner }: { manner: Manner }): boolean =>
  manner.kind === "serves another chain";

/** The newest block that whoever answers has. */
const tipOf = (
  { chain, world }: { chain: Chain; world: World },
  manner: Manner,
  calls: readonly Call[],
): Block => {
  if (manner.kind === "stands still") return manner.tip;
  if (manner.kind === "lags") return chain.ofDepth(manner.blocks);
  if (manner.kind !== "balances") return chain.tip();
  const isOfTransactions = calls.some(({ method }) =>
    /transaction(byhash|receipt)?$/i.test(method),
  );
  if (manner.isByMethod) return chain.ofDepth(isOfTransactions ? manner.blocksMax : 0);
  return chain.ofDepth(world.random.below(manner.blocksMax + 1));
};

/** What a node that alters makes of transactions. */
export const alterAll = (
  transactions: readonly Transaction[],
  { altered }: Manner & { kind: "alters" },
): readonly Transaction[] => transactions.map((one) => altered.get(one.hash) ?? one);

/** A block by its hash. */
export const findBlock = (view: View, hash: unknown): Block | undefined =>
  view.blocks.find((block) => view.hashOf(block) === hash);

/** A transaction, and the block in which this node has it. */
export const findTransaction = (view: View, hash: unknown) => {
  for (const block of view.blocks) {
    const transaction = view.transactionsOf(block).find((one) => one.hash === hash);
    if (transaction === undefined) continue;
    if (!view.hasForgotten(block)) return { block, transaction };
    view.lacks();
    return undefined;
  }
  return undefined;
};
