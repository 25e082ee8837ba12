import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { BlockHeader } from "../../../watch/chain-reader.ts";
import {
  type SolanaBlock,
  parseBlock,
  parseBlockSignatures,
  parseCount,
  parseSlots,
} from "../rpc-results.ts";

/** What is asked for: never what a fork may yet take away within a second. */
export const commitment = "confirmed";

/** The newest version of transactions that is read here (SIMD-0385). Nodes refuse to tell a later one. */
export const transactionVersionMax = 1;

const createBlockCall = (slot: number, transactionDetails: "none" | "signatures") => ({
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
const createBlockRequest = (slot: number): RpcRequest<SolanaBlock> => ({
  ...createBlockCall(slot, "none"),
  parseResult: parseBlock,
});

/** Asks which transactions a block holds; a slot without a block is an error. */
export const createBlockSignaturesRequest = (
  slot: number,
): RpcRequest<ReturnType<typeof parseBlockSignatures>> => ({
  ...createBlockCall(slot, "signatures"),
  parseResult: parseBlockSignatures,
});

/** Asks which slots of a range have a block, both ends included. */
export const createSlotsRequest = (
  fromSlot: number,
  toSlot: number,
): RpcRequest<readonly number[]> => ({
  method: "getBlocks",
  params: [fromSlot, toSlot, { commitment }],
  parseResult: parseSlots,
});

/** How far a node has come; the node is behind where that is not as far as a slot. */
export const createReachedSlotRequest = (slot: number): RpcRequest<number> => ({
  method: "getSlot",
  params: [{ commitment, minContextSlot: slot }],
  parseResult: parseCount,
});

/**
 * Which slots of a range have a block. The same node must have come to the range's end, as one that
 * has not lists fewer and says nothing.
 */
const fetchSlots = async (
  provider: Provider,
  { fromSlot, toSlot }: { fromSlot: number; toSlot: number },
): Promise<readonly number[]> => {
  const [reachedSlot, slots] = await provider.request([
    createReachedSlotRequest(toSlot),
    createSlotsRequest(fromSlot, toSlot),
  ]);
  if (reachedSlot < toSlot) throw new RpcFault("behind", "a node that has not come so far");
  const areInside = slots.every(
    (slot, index) => slot >= fromSlot && slot <= toSlot && slot > (slots[index - 1] ?? -1),
  );
  if (!areInside) throw new RpcFault("invalid", "slots of another range");
  return slots;
};

const lookBackSlotCounts = [32, 1_024, 32_768] as const;

/** The last block at a slot or below. Slots without a block are few in a row. */
const fetchLastSlot = async (provider: Provider, slot: number): Promise<number> => {
  for (const slotCount of lookBackSlotCounts) {
    const slots = await fetchSlots(provider, {
      fromSlot: Math.max(0, slot - slotCount),
      toSlot: slot,
    });
    const lastSlot = slots.at(-1);
    if (lastSlot !== undefined) return lastSlot;
  }
  throw new RpcFault("invalid", "no block in a range of hours");
};

/** The blocks of slots that have one, by their slot. */
export const fetchBlocks = async (
  provider: Provider,
  slots: readonly number[],
): Promise<ReadonlyMap<number, SolanaBlock>> => {
  const uniqueSlots = [...new Set(slots)];
  const blocks = await provider.requestMany(uniqueSlots.map(createBlockRequest));
  return new Map(
    blocks.map((block, index): [number, SolanaBlock] => [uniqueSlots[index] ?? 0, block]),
  );
};

/** The last block at a slot or below. */
export const fetchBlockUpTo = async (
  provider: Provider,
  slot: number,
): Promise<SolanaBlock & { slot: number }> => {
  const lastSlot = await fetchLastSlot(provider, slot);
  const [block] = await provider.request([createBlockRequest(lastSlot)]);
  return { ...block, slot: lastSlot };
};

/**
 * The header of each slot of a range. A slot without a block has that of the block before it, and
 * itself as its parent: so each slot has a header, and it changes only where the chain does.
 */
export const fetchHeaders = async (
  provider: Provider,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<readonly BlockHeader[]> => {
  const firstSlot = await fetchLastSlot(provider, fromBlock);
  const range = { fromSlot: fromBlock + 1, toSlot: toBlock };
  const followingSlots = fromBlock === toBlock ? [] : await fetchSlots(provider, range);
  const blocks = await fetchBlocks(provider, [firstSlot, ...followingSlots]);
  const headers: BlockHeader[] = [];
  let currentBlock: SolanaBlock | undefined = blocks.get(firstSlot);
  for (let number = fromBlock; number <= toBlock; number += 1) {
    const ownBlock = blocks.get(number);
    currentBlock = ownBlock ?? currentBlock;
    if (currentBlock === undefined) throw new RpcFault("invalid", "a block was left out");
    const { hash, parentHash, timestampSeconds } = currentBlock;
    headers.push({
      number,
      hash,
      parentHash: ownBlock === undefined ? hash : parentHash,
      timestampSeconds,
    });
  }
  return headers;
};
