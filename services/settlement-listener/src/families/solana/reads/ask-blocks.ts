import type { Question } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { BlockHeader } from "../../../watch/chain-reader.ts";
import {
  type SolanaBlock,
  readBlock,
  readBlockSignatures,
  readCount,
  readSlots,
} from "../node-answers.ts";

/** What is asked for: never what a fork may yet take away within a second. */
export const commitment = "confirmed";

/** The newest version of transactions that is read here (SIMD-0385). Nodes refuse to tell a later one. */
export const transactionVersionMax = 1;

const blockCall = (slot: number, transactionDetails: "none" | "signatures") => ({
  method: "getBlock",
  params: [
    slot,
    {
      commitment,
      encoding: "json",
      transactionDetails,
      rewards: false,
      maxSupportedTransactionVersion: transactionVersionMax,
    },
  ],
});

/** A block's header; a slot without a block is an error. */
const blockQuestion = (slot: number): Question<SolanaBlock> => ({
  ...blockCall(slot, "none"),
  read: readBlock,
});

/** Asks which transactions a block holds; a slot without a block is an error. */
export const signaturesQuestion = (
  slot: number,
): Question<ReturnType<typeof readBlockSignatures>> => ({
  ...blockCall(slot, "signatures"),
  read: readBlockSignatures,
});

/** Asks which slots of a range have a block, both ends included. */
export const slotsQuestion = (fromSlot: number, toSlot: number): Question<readonly number[]> => ({
  method: "getBlocks",
  params: [fromSlot, toSlot, { commitment }],
  read: readSlots,
});

/** How far a node has come; the node is behind where that is not as far as a slot. */
export const reachQuestion = (slot: number): Question<number> => ({
  method: "getSlot",
  params: [{ commitment, minContextSlot: slot }],
  read: readCount,
});

/**
 * Which slots of a range have a block. The same node must have come to the range's end, as one that
 * has not lists fewer and says nothing.
 */
const askSlots = async (
  provider: Provider,
  { fromSlot, toSlot }: { fromSlot: number; toSlot: number },
): Promise<readonly number[]> => {
  const [reached, slots] = await provider.ask([
    reachQuestion(toSlot),
    slotsQuestion(fromSlot, toSlot),
  ]);
  if (reached < toSlot) throw new RpcFault("behind", "a node that has not come so far");
  const areInside = slots.every(
    (slot, index) => slot >= fromSlot && slot <= toSlot && slot > (slots[index - 1] ?? -1),
  );
  if (!areInside) throw new RpcFault("invalid", "slots of another range");
  return slots;
};

const before = [32, 1_024, 32_768] as const;

/** The last block at a slot or below. Slots without a block are few in a row. */
const askLastSlot = async (provider: Provider, slot: number): Promise<number> => {
  for (const count of before) {
    const slots = await askSlots(provider, { fromSlot: Math.max(0, slot - count), toSlot: slot });
    const last = slots.at(-1);
    if (last !== undefined) return last;
  }
  throw new RpcFault("invalid", "no block in a range of hours");
};

/** The blocks of slots that have one, by their slot. */
export const askBlocks = async (
  provider: Provider,
  slots: readonly number[],
): Promise<ReadonlyMap<number, SolanaBlock>> => {
  const asked = [...new Set(slots)];
  const blocks = await provider.askMany(asked.map(blockQuestion));
  return new Map(blocks.map((block, index): [number, SolanaBlock] => [asked[index] ?? 0, block]));
};

/** The last block at a slot or below. */
export const askBlockUpTo = async (
  provider: Provider,
  slot: number,
): Promise<SolanaBlock & { slot: number }> => {
  const last = await askLastSlot(provider, slot);
  const [block] = await provider.ask([blockQuestion(last)]);
  return { ...block, slot: last };
};

/**
 * The header of each slot of a range. A slot without a block has that of the block before it, and
 * itself as its parent: so each slot has a header, and it changes only where the chain does.
 */
export const askHeaders = async (
  provider: Provider,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<readonly BlockHeader[]> => {
  const first = await askLastSlot(provider, fromBlock);
  const range = { fromSlot: fromBlock + 1, toSlot: toBlock };
  const following = fromBlock === toBlock ? [] : await askSlots(provider, range);
  const blocks = await askBlocks(provider, [first, ...following]);
  const headers: BlockHeader[] = [];
  let current: SolanaBlock | undefined = blocks.get(first);
  for (let number = fromBlock; number <= toBlock; number += 1) {
    const own = blocks.get(number);
    current = own ?? current;
    if (current === undefined) throw new RpcFault("invalid", "a block was left out");
    const { hash, parentHash, timestampSeconds } = current;
    headers.push({
      number,
      hash,
      parentHash: own === undefined ? hash : parentHash,
      timestampSeconds,
    });
  }
  return headers;
};
