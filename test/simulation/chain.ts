import { createHash } from "node:crypto";
import { keccak256Hex } from "@payment-links/contracts";
import type { Payment } from "./model.ts";
import type { World } from "./world.ts";

export type ChainLog = { address: string; topics: readonly string[]; data: string };

/** A transaction, whether or not a block holds it. */
export type Transaction = {
  hash: string;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** The payment that it makes; undefined for one that only looks like it. */
  payment: Payment | undefined;
};

export type Block = {
  number: number;
  hash: string;
  parent: Block | undefined;
  timestampSeconds: number;
  transactions: readonly Transaction[];
};

/** The chain on which payers pay in an episode. */
export const chainId = "8453";
const erc20Proxy = "0x1892196e80c4c17ea5100da765ab48c1fe2fb814";
export const usdc = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
export const eurc = "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42";

export const safeDepth = 3;
export const finalDepth = 6;
/** What was settled by `safe` is never taken away; a deeper fork is an event of its own. */
const forkBlocksMax = safeDepth - 1;

const bytesOf = (text: string): string => Buffer.from(text).toString("hex");
const proxyTopic = keccak256Hex(
  bytesOf("TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)"),
);
const transferTopic = keccak256Hex(bytesOf("Transfer(address,address,uint256)"));

const word = (hex: string): string => hex.replace(/^0x/, "").toLowerCase().padStart(64, "0");
const number = (value: number): string => word(value.toString(16));
const zero = word("0x0");

const hashOf = (text: string): string => `0x${createHash("sha256").update(text).digest("hex")}`;

/** What the token says where it moves base units. */
export const transferLog = (transfer: { token: string; to: string; units: number }): ChainLog => ({
  address: transfer.token,
  topics: [transferTopic, `0x${word("0x6666")}`, `0x${word(transfer.to)}`],
  data: `0x${number(transfer.units)}`,
});

/** What the fee proxy says of a payment: a pointer, and no proof. */
export const proxyLog = (said: {
  token: string;
  to: string;
  units: number;
  reference: string;
}): ChainLog => ({
  address: erc20Proxy,
  topics: [proxyTopic, keccak256Hex(said.reference)],
  data: `0x${word(said.token)}${word(said.to)}${number(said.units)}${zero}${zero}`,
});

/** Three bits of 2048 for each of what the watcher looks for; the reference is drawn, and left out. */
const bloomOf = (items: readonly string[]): string => {
  const bits = new Uint8Array(256);
  for (const item of items) {
    const hash = Buffer.from(keccak256Hex(item).slice(2), "hex");
    for (const at of [0, 2, 4]) {
      const bit = hash.readUInt16BE(at) % 2048;
      const byte = 255 - Math.floor(bit / 8);
      bits[byte] = (bits[byte] ?? 0) | (1 << (bit % 8));
    }
  }
  return `0x${Buffer.from(bits).toString("hex")}`;
};

const emptyBloom = bloomOf([]);
const proxyBloom = bloomOf([erc20Proxy, proxyTopic]);

/** A block's bloom, as far as the watcher looks at it. */
export const bloomOfBlock = ({ transactions }: Block): string =>
  transactions.some(({ logs }) => logs.some(({ address }) => address === erc20Proxy))
    ? proxyBloom
    : emptyBloom;

/** The blocks of a chain from a tip down to its first. */
export const lineage = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let at: Block | undefined = tip; at !== undefined; at = at.parent) blocks[at.number] = at;
  return blocks;
};

/** A chain as it truly is: what is pending, what is mined, and what forks take away and bring back. */
export const createChain = (world: World) => {
  const { random } = world;
  const pending: Transaction[] = [];
  /** The block up to which what is mined counts for good. */
  let settledTo = 0;
  const nonces = new Map<string, number>();
  let drawn = 0;
  let timeSeconds = 0;

  const seal = (parent: Block | undefined, transactions: readonly Transaction[]): Block => {
    drawn += 1;
    timeSeconds = Math.max(timeSeconds, Math.floor(world.nowMs() / 1000));
    return {
      number: parent === undefined ? 0 : parent.number + 1,
      hash: hashOf(`block ${drawn}`),
      parent,
      timestampSeconds: timeSeconds,
      transactions,
    };
  };

  let tip = seal(undefined, []);
  for (let height = 1; height <= finalDepth + 2; height += 1) tip = seal(tip, []);

  const ofDepth = (depth: number): Block => {
    let at = tip;
    for (let below = 0; below < depth && at.parent !== undefined; below += 1) at = at.parent;
    return at;
  };

  /** What has become deep enough is paid, whatever happens. */
  const settle = (): void => {
    const line = tip.number - safeDepth;
    for (const { number: height, timestampSeconds, transactions } of lineage(tip)) {
      if (height <= settledTo || height > line) continue;
      for (const { payment, isSuccessful } of transactions) {
        if (payment === undefined || !isSuccessful) continue;
        payment.isEndTold = true;
        payment.occurredAt = new Date(timestampSeconds * 1000);
      }
    }
    settledTo = Math.max(settledTo, line);
  };

  /** Mines one block with some of what is pending. */
  const mine = (): void => {
    const taken: Transaction[] = [];
    for (const one of pending.slice()) {
      const isNext = !pending.some((other) => other.from === one.from && other.nonce < one.nonce);
      if (!isNext || random.chance(0.25)) continue;
      pending.splice(pending.indexOf(one), 1);
      taken.push(one);
    }
    tip = seal(tip, taken);
    settle();
  };

  return {
    tip: () => tip,
    ofDepth,
    mine,
    /** Whether all that was ever sent is final. */
    isSettled: () =>
      pending.length === 0 &&
      lineage(tip)
        .slice(-finalDepth - 1)
        .every(({ transactions }) => transactions.length === 0),
    send: (
      from: string,
      sent: Pick<Transaction, "isSuccessful" | "logs"> & { payment?: Payment },
    ): Transaction => {
      drawn += 1;
      const nonce = nonces.get(from) ?? 0;
      nonces.set(from, nonce + 1);
      const transaction = {
        payment: undefined,
        ...sent,
        hash: hashOf(`transaction ${drawn}`),
        from,
        nonce,
      };
      pending.push(transaction);
      return transaction;
    },
    /** A transaction that no block holds, and no block will. */
    forge: (made: Pick<Transaction, "isSuccessful" | "logs">): Transaction => {
      drawn += 1;
      const hash = hashOf(`transaction ${drawn}`);
      return { ...made, hash, from: `0x${"f".repeat(40)}`, nonce: drawn, payment: undefined };
    },
    /**
     * Other blocks take the place of the newest; what they held is pending again, or replaced. A deep
     * fork takes away what was final.
     */
    fork: ({ isDeep }: { isDeep: boolean }): { depth: number; sharedBlock: number } => {
      const depth = isDeep ? finalDepth + 1 + random.below(3) : 1 + random.below(forkBlocksMax);
      const ancestor = ofDepth(depth);
      const lost = lineage(tip)
        .slice(ancestor.number + 1)
        .flatMap(({ transactions }) => transactions);
      for (const transaction of lost) {
        if (random.chance(0.25)) {
          // Its payer has spent the nonce on something else.
          const { payment } = transaction;
          if (payment?.isEndTold === true) payment.isDoubtful = true;
          else if (payment !== undefined) payment.end = "failed";
          drawn += 1;
          const hash = hashOf(`transaction ${drawn}`);
          const other = { ...transaction, hash, logs: [], payment: undefined };
          pending.push(other);
        } else {
          pending.push(transaction);
          if (transaction.payment?.isEndTold === true) transaction.payment.isMoved = true;
        }
      }
      pending.sort((a, b) => (a.from === b.from ? a.nonce - b.nonce : 0));
      tip = ancestor;
      settledTo = Math.min(settledTo, ancestor.number);
      for (let mined = 0; mined <= depth; mined += 1) mine();
      return { depth, sharedBlock: ancestor.number };
    },
  };
};

export type Chain = ReturnType<typeof createChain>;
