import { keccak256Hex } from "@payment-links/contracts";
import {
  type Block,
  type ChainLog,
  type Pool,
  type Sent,
  type Transaction,
  finalDepth,
  lineage,
  safeDepth,
} from "./block.ts";
import type { ChainKind } from "./chain-kinds.ts";
import { createCoinPool } from "./coin-pool.ts";
import type { Money } from "./money.ts";
import type { World } from "./world.ts";

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

const nothingElse = {
  isSuccessful: true,
  logs: [],
  transfers: [],
  inputs: [],
  outputs: [],
  money: [],
  ballastBytes: 0,
};

/** A few of these exceed what one answer to a batch may hold. A block of Bitcoin holds four million bytes at most. */
const ballastBytesMax = { EVM: 1_000_000, TVM: 1_000_000, SVM: 1_000_000, BVM: 100_000 };

/** Each payer's transactions are mined in the order of their nonces. */
const createNoncePool = ({ random }: World, kind: ChainKind, draw: () => number): Pool => {
  const pending: Transaction[] = [];
  const nonces = new Map<string, number>();
  const name = (sent: Omit<Transaction, "hash" | "drawn">): Transaction => {
    const drawn = draw();
    return { ...sent, drawn, hash: kind.nameTransaction({ ...sent, drawn }) };
  };
  return {
    first: [],
    send: (_tip, from, sent) => {
      const nonce = nonces.get(from) ?? 0;
      nonces.set(from, nonce + 1);
      const transaction = name({ ...nothingElse, ...sent, from, nonce });
      pending.push(transaction);
      return transaction;
    },
    take: () => {
      const taken: Transaction[] = [];
      for (const one of pending.slice()) {
        const isNext = !pending.some((other) => other.from === one.from && other.nonce < one.nonce);
        if (!isNext || random.chance(0.25)) continue;
        pending.splice(pending.indexOf(one), 1);
        taken.push(one);
      }
      return taken;
    },
    takeBack: (lost) => {
      for (const transaction of lost) {
        if (random.chance(0.25)) {
          // Its payer has spent the nonce on something else.
          for (const one of transaction.money) {
            if (one.isEndTold) one.isDoubtful = true;
            else one.end = "failed";
          }
          pending.push(
            name({ ...transaction, logs: [], transfers: [], money: [], ballastBytes: 0 }),
          );
        } else {
          pending.push(transaction);
          for (const one of transaction.money) if (one.isEndTold) one.isMoved = true;
        }
      }
      pending.sort((a, b) => (a.from === b.from ? a.nonce - b.nonce : 0));
    },
    isEmpty: () => pending.length === 0,
    settle: () => {},
  };
};

/**
 * A chain as it truly is: what is pending, what is mined, and what forks take away and bring back.
 * `depthOf` says how deep money must be to be paid for good. `hasHeavyTransactions` adds megabytes of
 * strangers' data to some of what is sent.
 */
export const createChain = (
  world: World,
  kind: ChainKind,
  {
    depthOf,
    hasHeavyTransactions,
  }: { depthOf: (money: Pick<Money, "amount">) => number; hasHeavyTransactions: boolean },
) => {
  const { random } = world;
  let drawn = 0;
  const draw = (): number => (drawn += 1);
  const coins = kind.chainType === "BVM" ? createCoinPool(world, kind, draw) : undefined;
  const pool = coins ?? createNoncePool(world, kind, draw);
  const sealed: Block[] = [];
  const sent: Transaction[] = [];
  let timeSeconds = 0;

  const drawBallast = (): Pick<Transaction, "ballastBytes"> => {
    if (!hasHeavyTransactions || random.chance(0.3)) return { ballastBytes: 0 };
    world.count("heavy transactions");
    const bytesMax = ballastBytesMax[kind.chainType];
    return { ballastBytes: bytesMax / 2 + random.below(bytesMax / 2) };
  };

  const drawSkipped = (): number =>
    kind.chainType === "SVM" && random.chance(0.2) ? 1 + random.below(2) : 0;

  const seal = (parent: Block | undefined, transactions: readonly Transaction[]): Block => {
    timeSeconds = Math.max(timeSeconds, Math.floor(world.nowMs() / 1000));
    const block = {
      number: parent === undefined ? 0 : parent.number + 1,
      slot: parent === undefined ? 0 : parent.slot + 1 + drawSkipped(),
      drawn: draw(),
      parent,
      timestampSeconds: timeSeconds,
      transactions,
    };
    const named = { ...block, hash: kind.nameBlock(block) };
    sealed.push(named);
    return named;
  };

  let tip = seal(undefined, []);
  for (let height = 1; height <= finalDepth + 2; height += 1) {
    tip = seal(tip, height === 1 ? pool.first : []);
  }

  const ofDepth = (depth: number): Block => {
    let at = tip;
    for (let below = 0; below < depth && at.parent !== undefined; below += 1) at = at.parent;
    return at;
  };

  /** What has become deep enough is paid, whatever happens. */
  const settle = (): void => {
    for (let depth = 0; depth <= finalDepth; depth += 1) {
      const { timestampSeconds, transactions } = ofDepth(depth);
      for (const one of transactions.flatMap(({ money }) => money)) {
        if (depthOf(one) !== depth) continue;
        one.isEndTold = true;
        one.occurredAt = new Date(timestampSeconds * 1000);
      }
    }
    pool.settle(ofDepth(finalDepth));
  };

  /** Mines one block with some of what is pending. */
  const mine = (): void => {
    tip = seal(tip, pool.take(tip));
    settle();
  };

  return {
    tip: () => tip,
    ofDepth,
    mine,
    /** Bitcoin's; undefined elsewhere. */
    coins,
    /** All blocks that ever were, in their order. */
    sealed: (): readonly Block[] => sealed,
    /** Whether all that was ever sent is final. */
    isSettled: () =>
      pool.isEmpty(tip) &&
      lineage(tip)
        .slice(-finalDepth - 1)
        .every(({ transactions }) => transactions.length === 0),
    send: (from: string, what: Sent): Transaction => {
      const transaction = pool.send(tip, from, { ...what, ...drawBallast() });
      sent.push(transaction);
      return transaction;
    },
    /** All that payers have sent, in its order; not what takes another's place. */
    sent: (): readonly Transaction[] => sent,
    /** A transaction that no block holds, and no block will. */
    forge: (from: string, sent: Sent): Transaction => {
      const number = draw();
      const inputs = kind.chainType === "BVM" ? [`${from}:${number}`] : [];
      const made = { ...nothingElse, ...sent, from, inputs, nonce: number, money: [] };
      return { ...made, drawn: number, hash: kind.nameTransaction({ ...made, drawn: number }) };
    },
    /**
     * Other blocks take the place of the newest; what they held is pending again, or replaced. A deep
     * fork takes away what was final.
     */
    fork: ({ isDeep }: { isDeep: boolean }): { depth: number; shared: Block } => {
      const depth = isDeep ? finalDepth + 1 + random.below(3) : 1 + random.below(forkBlocksMax);
      const ancestor = ofDepth(depth);
      const lost = lineage(tip).slice(ancestor.number + 1);
      tip = ancestor;
      pool.takeBack(lost.flatMap(({ transactions }) => transactions));
      for (let mined = 0; mined <= depth; mined += 1) mine();
      return { depth, shared: ancestor };
    },
  };
};

export type Chain = ReturnType<typeof createChain>;
