import type { RpcRequest } from "../../rpc/json-rpc.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { BlockHeader } from "../../reads/chain-reader.ts";
import {
  type SolanaBlock,
  parseBlock,
  parseBlockSignatures,
  parseCount,
  parseSlots,
} from "./rpc-results.ts";

/**
 * The commitment of all requests. Less than `confirmed` is not enough, because a fork could still
 * orphan such a block within a second.
 */
export const commitment = "confirmed";

/**
 * The latest supported transaction version (SIMD-0385). For blocks and transactions with a later
 * version, nodes return an error.
 */
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

/** Requests a block's header. A slot without a block is an error. */
const createBlockRequest = (slot: number): RpcRequest<SolanaBlock> => ({
  ...createBlockCall(slot, "none"),
  parseResult: parseBlock,
});

/** Requests a block's transaction signatures. A slot without a block is an error. */
export const createBlockSignaturesRequest = (
  slot: number,
): RpcRequest<ReturnType<typeof parseBlockSignatures>> => ({
  ...createBlockCall(slot, "signatures"),
  parseResult: parseBlockSignatures,
});

/** Requests the slots of a range that have a block. Both ends are inclusive. */
export const createSlotsRequest = (
  fromSlot: number,
  toSlot: number,
): RpcRequest<readonly number[]> => ({
  method: "getBlocks",
  params: [fromSlot, toSlot, { commitment }],
  parseResult: parseSlots,
});

/** Requests the latest slot of a node. If the node has not reached `slot`, it returns an error. */
export const createReachedSlotRequest = (slot: number): RpcRequest<number> => ({
  method: "getSlot",
  params: [{ commitment, minContextSlot: slot }],
  parseResult: parseCount,
});

/**
 * Returns the slots of a range that have a block. Checks that the node has reached the range's end,
 * because a lagging node returns fewer slots without an error.
 */
const fetchSlots = async (
  provider: Provider,
  { fromSlot, toSlot }: { fromSlot: number; toSlot: number },
): Promise<readonly number[]> => {
  const [reachedSlot, slots] = await provider.request([
    createReachedSlotRequest(toSlot),
    createSlotsRequest(fromSlot, toSlot),
  ]);
  if (reachedSlot < toSlot) throw new RpcFault("behind", "the node has not reached this slot");
  const areInside = slots.every(
    (slot, index) => slot >= fromSlot && slot <= toSlot && slot > (slots[index - 1] ?? -1),
  );
  if (!areInside) throw new RpcFault("invalid", "the node returned slots outside the range");
  return slots;
};

const lookBackSlotCounts = [32, 1_024, 32_768] as const;

/** Returns the last slot that has a block, at or before the given slot. */
const fetchLastSlot = async (provider: Provider, slot: number): Promise<number> => {
  for (const slotCount of lookBackSlotCounts) {
    const slots = await fetchSlots(provider, {
      fromSlot: Math.max(0, slot - slotCount),
      toSlot: slot,
    });
    const lastSlot = slots.at(-1);
    if (lastSlot !== undefined) return lastSlot;
  }
  throw new RpcFault("invalid", "no block within several hours");
};

/** Returns blocks by slot. Each slot must have a block. */
export const fetchBlocks = async (
  provider: Provider,
  slots: readonly number[],
): Promise<ReadonlyMap<number, SolanaBlock>> => {
  const uniqueSlots = [...new Set(slots)];
  const blocks = await provider.request(uniqueSlots.map(createBlockRequest), { inParts: true });
  return new Map(
    blocks.map((block, index): [number, SolanaBlock] => [uniqueSlots[index] ?? 0, block]),
  );
};

/** Returns the last block at or before a slot. */
export const fetchBlockUpTo = async (
  provider: Provider,
  slot: number,
): Promise<SolanaBlock & { slot: number }> => {
  const lastSlot = await fetchLastSlot(provider, slot);
  const [block] = await provider.request([createBlockRequest(lastSlot)]);
  return { ...block, slot: lastSlot };
};

/**
 * Returns a header for each slot of a range. A slot without a block gets the previous block's
 * header, with that block's hash as its parent hash. This gives every slot a header, and the header
 * changes only if the chain changes.
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
    if (currentBlock === undefined) throw new RpcFault("invalid", "a block is missing");
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
