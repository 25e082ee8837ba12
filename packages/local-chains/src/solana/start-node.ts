import { serveJsonRpc } from "../serve-json-rpc.ts";
import { accountMethods } from "./account-methods.ts";
import { handleChainCall } from "./chain-methods.ts";
import { sendingMethods } from "./sending-methods.ts";
import type { CommitmentLags, NodeView } from "./node-view.ts";
import type { Block, LandedTransaction, Ledger } from "./create-ledger.ts";

/** A node of the chain with its own URL. */
export type SolanaNode = {
  url: string;
  /** Makes the node lag behind the head by this many blocks. */
  lagBy(blockCount: number): void;
  /** Makes the node stay on its current fork until `resume` is called. */
  freeze(): void;
  resume(): void;
  /** Hides a transaction from the node, as if the node had pruned it or never received it. */
  hideTransaction(signature: string): void;
  /** Removes everything below a slot, as a node with limited storage does. */
  prune(toSlot: number): void;
  /** Restores the pruned slots, as if another node behind the same URL had them. */
  restore(): void;
  /** Makes the node report skipped slots like a node with long-term storage does. */
  becomeArchive(): void;
  close(): Promise<void>;
};

/** Starts a node that serves the ledger. */
export const startNode = async (
  ledger: Ledger,
  { lags, port }: { lags: CommitmentLags; port?: number | undefined },
): Promise<SolanaNode> => {
  const hiddenSignatures = new Set<string>();
  let lag = 0;
  let prunedTo = 0;
  let isArchive = false;
  let frozenBlocks: readonly Block[] | undefined;
  const blocks = (): readonly Block[] => frozenBlocks ?? ledger.blocks;
  const hasTransaction = ({ signature, slot, height }: LandedTransaction, newest: Block): boolean =>
    height <= newest.height &&
    blocks()[height]?.slot === slot &&
    slot >= prunedTo &&
    !hiddenSignatures.has(signature);
  const view: NodeView = {
    ledger,
    genesisHash: blocks()[0]?.hash ?? "",
    blocks,
    findNewestBlock: (commitment) => {
      const lagByCommitment = {
        processed: 0,
        confirmed: lags.confirmedLag,
        finalized: lags.finalizedLag,
      };
      const height = Math.max(0, blocks().length - 1 - lag - lagByCommitment[commitment]);
      return blocks()[height] ?? ledger.head();
    },
    findTransaction: (signature, newest) =>
      ledger.listLandings(signature).find((landed) => hasTransaction(landed, newest)),
    listTransactions: (key, newest) =>
      ledger.listLandingsByKey(key).filter((landed) => hasTransaction(landed, newest)),
    firstSlot: () => blocks().find(({ slot }) => slot >= prunedTo)?.slot ?? ledger.head().slot,
    slotsBehind: () => ledger.head().slot - view.findNewestBlock("processed").slot,
    isArchive: () => isArchive,
  };
  const ledgerMethods = { ...accountMethods, ...sendingMethods };
  const server = await serveJsonRpc({
    port,
    handleCall: (method, params) => {
      const handler = ledgerMethods[method];
      return handler === undefined ? handleChainCall(view, method, params) : handler(view, params);
    },
  });
  return {
    url: server.url,
    lagBy: (blockCount) => {
      lag = blockCount;
    },
    freeze: () => {
      frozenBlocks = [...ledger.blocks];
    },
    resume: () => {
      frozenBlocks = undefined;
    },
    prune: (toSlot) => {
      prunedTo = toSlot;
    },
    restore: () => {
      prunedTo = 0;
    },
    becomeArchive: () => {
      isArchive = true;
    },
    hideTransaction: (signature) => void hiddenSignatures.add(signature),
    close: () => server.close(),
  };
};
