import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import { accountMethods } from "./answer-accounts.ts";
import { chainMethods } from "./answer-chain.ts";
import { sendingMethods } from "./answer-sending.ts";
import type { Lags, NodeView } from "./node-view.ts";
import type { Block, Ledger } from "./open-ledger.ts";

/** A node of the chain, at an address of its own. */
export type SolanaNode = {
  url: string;
  /** Tells only of blocks that are so many behind the head, from now on. */
  lagBy(blockCount: number): void;
  /** Stays where it is, on its fork, until it is told to go on. */
  freeze(): void;
  goOn(): void;
  /** Knows a transaction no more, as a node that has pruned it or never had it. */
  forget(signature: string): void;
  /** Has nothing any more of the slots below one, as a node that keeps so much and no more. */
  prune(toSlot: number): void;
  /** Has all of it again, as another node that answers at the same address. */
  restore(): void;
  /** Tells of skipped slots as a node does that looks into a long-term storage. */
  becomeArchive(): void;
  close(): Promise<void>;
};

/** Opens a node that answers for the ledger. */
export const openNode = async (
  ledger: Ledger,
  { lags, port }: { lags: Lags; port?: number },
): Promise<SolanaNode> => {
  const forgotten = new Set<string>();
  let lag = 0;
  let prunedTo = 0;
  let isArchive = false;
  let frozen: readonly Block[] | undefined;
  const blocks = (): readonly Block[] => frozen ?? ledger.blocks;
  const view: NodeView = {
    ledger,
    blocks,
    top: (commitment) => {
      const behind = { processed: 0, confirmed: lags.confirmedLag, finalized: lags.finalizedLag };
      const height = Math.max(0, blocks().length - 1 - lag - behind[commitment]);
      return blocks()[height] ?? ledger.head();
    },
    has: ({ signature, slot, height }, newest) =>
      height <= newest.height &&
      blocks()[height]?.slot === slot &&
      slot >= prunedTo &&
      !forgotten.has(signature),
    firstSlot: () => blocks().find(({ slot }) => slot >= prunedTo)?.slot ?? ledger.head().slot,
    slotsBehind: () => ledger.head().slot - view.top("processed").slot,
    isArchive: () => isArchive,
  };
  const methods = { ...chainMethods, ...accountMethods, ...sendingMethods };
  const server = await serveJsonRpc({
    ...(port === undefined ? {} : { port }),
    answer: (method, params) => {
      const answer = methods[method];
      if (answer === undefined) throw new RpcError(-32601, "Method not found");
      return answer(view, params);
    },
    write: writeWithBigInts,
  });
  return {
    url: server.url,
    lagBy: (blockCount) => {
      lag = blockCount;
    },
    freeze: () => {
      frozen = [...ledger.blocks];
    },
    goOn: () => {
      frozen = undefined;
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
    forget: (signature) => void forgotten.add(signature),
    close: () => server.close(),
  };
};

const bigIntMark = "bigint:";

/** A node writes amounts as JSON numbers of any length. */
const writeWithBigInts = (reply: unknown): string =>
  JSON.stringify(reply, (_, value: unknown) =>
    typeof value === "bigint" ? `${bigIntMark}${value}` : value,
  ).replaceAll(new RegExp(`"${bigIntMark}(\\d+)"`, "g"), "$1");
