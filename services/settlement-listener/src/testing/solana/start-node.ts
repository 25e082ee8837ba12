import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import { accountMethods } from "./account-methods.ts";
import { chainMethods } from "./chain-methods.ts";
import { sendingMethods } from "./sending-methods.ts";
import type { CommitmentLags, NodeView } from "./node-view.ts";
import type { Block, Ledger } from "./create-ledger.ts";

/** A node of the chain, at an address of its own. */
export type SolanaNode = {
  url: string;
  /** Tells only of blocks that are so many behind the head, from now on. */
  lagBy(blockCount: number): void;
  /** Stays where it is, on its fork, until it is told to go on. */
  freeze(): void;
  resume(): void;
  /** Knows a transaction no more, as a node that has pruned it or never had it. */
  hideTransaction(signature: string): void;
  /** Has nothing any more of the slots below one, as a node that keeps so much and no more. */
  prune(toSlot: number): void;
  /** Has all of it again, as another node that answers at the same address. */
  restore(): void;
  /** Tells of skipped slots as a node does that looks into a long-term storage. */
  becomeArchive(): void;
  close(): Promise<void>;
};

/** Opens a node that answers for the ledger. */
export const startNode = async (
  ledger: Ledger,
  { lags, port }: { lags: CommitmentLags; port?: number },
): Promise<SolanaNode> => {
  const hiddenSignatures = new Set<string>();
  let lag = 0;
  let prunedTo = 0;
  let isArchive = false;
  let frozenBlocks: readonly Block[] | undefined;
  const blocks = (): readonly Block[] => frozenBlocks ?? ledger.blocks;
  const view: NodeView = {
    ledger,
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
    hasTransaction: ({ signature, slot, height }, newest) =>
      height <= newest.height &&
      blocks()[height]?.slot === slot &&
      slot >= prunedTo &&
      !hiddenSignatures.has(signature),
    firstSlot: () => blocks().find(({ slot }) => slot >= prunedTo)?.slot ?? ledger.head().slot,
    slotsBehind: () => ledger.head().slot - view.findNewestBlock("processed").slot,
    isArchive: () => isArchive,
  };
  const methods = { ...chainMethods, ...accountMethods, ...sendingMethods };
  const server = await serveJsonRpc({
    ...(port === undefined ? {} : { port }),
    handleCall: (method, params) => {
      const handler = methods[method];
      if (handler === undefined) throw new RpcError(-32601, "Method not found");
      return handler(view, params);
    },
    serialize: serializeWithBigInts,
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

const bigIntPrefix = "bigint:";

/** A node writes amounts as JSON numbers of any length. */
const serializeWithBigInts = (reply: unknown): string =>
  JSON.stringify(reply, (_, value: unknown) =>
    typeof value === "bigint" ? `${bigIntPrefix}${value}` : value,
  ).replaceAll(new RegExp(`"${bigIntPrefix}(\\d+)"`, "g"), "$1");
