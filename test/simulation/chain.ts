import { keccak256Hex } from "@payment-links/contracts";
import type { Money } from "./money.ts";
import type { ChainKind } from "./chain-kinds.ts";
import type { World } from "./world.ts";

/** A token program's transfer on Solana: accounts by their owners. */
export type SolanaTransfer = {
  mint: string;
  to: string;
  units: number;
  reference: string | undefined;
};

export type ChainLog = { address: string; topics: readonly string[]; data: string };

/** A transaction, whether or not a block holds it. */
export type Transaction = {
  hash: string;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** On Solana, in place of logs. */
  transfers: readonly SolanaTransfer[];
  /** What it pays; nothing for one that only looks like it. */
  money: readonly Money[];
};

export type Block = {
  number: number;
  /** What its chain calls its place: on Solana some slots have no block. */
  slot: number;
  hash: string;
  parent: Block | undefined;
  timestampSeconds: number;
  transactions: readonly Transaction[];
};

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

/** What the token says where it moves base units. */
export const transferLog = (transfer: {
  token: string;
  from: string;
  to: string;
  units: number;
}): ChainLog => ({
  address: transfer.token,
  topics: [transferTopic, `0x${word(transfer.from)}`, `0x${word(transfer.to)}`],
  data: `0x${number(transfer.units)}`,
});

/** What the fee proxy says of a payment: a pointer, and no proof. */
export const proxyLog = (said: {
  proxy: string;
  token: string;
  to: string;
  units: number;
  reference: string;
}): ChainLog => ({
  address: said.proxy,
  topics: [proxyTopic, keccak256Hex(said.reference)],
  data: `0x${word(said.token)}${word(said.to)}${number(said.units)}${zero}${zero}`,
});

const bitsKnown = new Map<string, readonly number[]>();

/** Three bits of 2048. */
const bitsOf = (item: string): readonly number[] => {
  const known = bitsKnown.get(item);
  if (known !== undefined) return known;
  const hash = Buffer.from(keccak256Hex(item).slice(2), "hex");
  const bits = [0, 2, 4].map((at) => hash.readUInt16BE(at) % 2048);
  bitsKnown.set(item, bits);
  return bits;
};

const bloomOf = (items: readonly string[]): string => {
  const bits = new Uint8Array(256);
  for (const bit of items.flatMap(bitsOf)) {
    const byte = 255 - Math.floor(bit / 8);
    bits[byte] = (bits[byte] ?? 0) | (1 << (bit % 8));
  }
  return `0x${Buffer.from(bits).toString("hex")}`;
};

/** A block's bloom. References are drawn elsewhere than from the seed, and left out. */
export const bloomOfBlock = ({ transactions }: Pick<Block, "transactions">): string =>
  bloomOf(
    transactions
      .filter(({ isSuccessful }) => isSuccessful)
      .flatMap(({ logs }) => logs)
      .flatMap(({ address, topics }) => [
        address,
        ...(topics[0] === proxyTopic ? topics.slice(0, 1) : topics),
      ]),
  );

/** The blocks of a chain from a tip down to its first. */
export const lineage = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let at: Block | undefined = tip; at !== undefined; at = at.parent) blocks[at.number] = at;
  return blocks;
};

/** A chain as it truly is: what is pending, what is mined, and what forks take away and bring back. */
export const createChain = (world: World, kind: ChainKind) => {
  const { random } = world;
  const pending: Transaction[] = [];
  /** The block up to which what is mined counts for good. */
  let settledTo = 0;
  const nonces = new Map<string, number>();
  let drawn = 0;
  let timeSeconds = 0;

  const drawSkipped = (): number =>
    kind.chainType === "SVM" && random.chance(0.2) ? 1 + random.below(2) : 0;

  const seal = (parent: Block | undefined, transactions: readonly Transaction[]): Block => {
    drawn += 1;
    timeSeconds = Math.max(timeSeconds, Math.floor(world.nowMs() / 1000));
    return {
      number: parent === undefined ? 0 : parent.number + 1,
      slot: parent === undefined ? 0 : parent.slot + 1 + drawSkipped(),
      hash: kind.nameBlock(`block ${drawn}`),
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
      for (const one of transactions.flatMap(({ money }) => money)) {
        one.isEndTold = true;
        one.occurredAt = new Date(timestampSeconds * 1000);
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
      sent: Pick<Transaction, "isSuccessful"> &
        Partial<Pick<Transaction, "logs" | "transfers" | "money">>,
    ): Transaction => {
      drawn += 1;
      const nonce = nonces.get(from) ?? 0;
      nonces.set(from, nonce + 1);
      const transaction = {
        logs: [],
        transfers: [],
        money: [],
        ...sent,
        hash: kind.nameTransaction(`transaction ${drawn}`),
        from,
        nonce,
      };
      pending.push(transaction);
      return transaction;
    },
    /** A transaction that no block holds, and no block will. */
    forge: (
      from: string,
      made: Pick<Transaction, "isSuccessful"> & Partial<Pick<Transaction, "logs" | "transfers">>,
    ): Transaction => {
      drawn += 1;
      const hash = kind.nameTransaction(`transaction ${drawn}`);
      return { logs: [], transfers: [], ...made, hash, from, nonce: drawn, money: [] };
    },
    /**
     * Other blocks take the place of the newest; what they held is pending again, or replaced. A deep
     * fork takes away what was final.
     */
    fork: ({ isDeep }: { isDeep: boolean }): { depth: number; shared: Block } => {
      const depth = isDeep ? finalDepth + 1 + random.below(3) : 1 + random.below(forkBlocksMax);
      const ancestor = ofDepth(depth);
      const lost = lineage(tip)
        .slice(ancestor.number + 1)
        .flatMap(({ transactions }) => transactions);
      for (const transaction of lost) {
        if (random.chance(0.25)) {
          // Its payer has spent the nonce on something else.
          for (const one of transaction.money) {
            if (one.isEndTold) one.isDoubtful = true;
            else one.end = "failed";
          }
          drawn += 1;
          const hash = kind.nameTransaction(`transaction ${drawn}`);
          const other = { ...transaction, hash, logs: [], transfers: [], money: [] };
          pending.push(other);
        } else {
          pending.push(transaction);
          for (const one of transaction.money) if (one.isEndTold) one.isMoved = true;
        }
      }
      pending.sort((a, b) => (a.from === b.from ? a.nonce - b.nonce : 0));
      tip = ancestor;
      settledTo = Math.min(settledTo, ancestor.number);
      for (let mined = 0; mined <= depth; mined += 1) mine();
      return { depth, shared: ancestor };
    },
  };
};

export type Chain = ReturnType<typeof createChain>;
