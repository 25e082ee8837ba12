import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "viem";
import type { Owners } from "../../../watch/chain/owners.ts";
import type { IsOwner } from "../verify-receipt.ts";
import { type Bloom, type BloomTest, createBloomTest, falseShareOf } from "./bloom.ts";

/** Owners as logs name whom a token's transfer went to. */
export type KnownPayees = {
  all: readonly Hex[];
  isPayee: (topic: Hex) => boolean;
  /** Those to whom blocks with these blooms may hold a transfer: all, where few would be left out. */
  listHeld: (blooms: readonly Bloom[]) => Promise<readonly Hex[]>;
};

/** Owners of a chain in the form in which EVM nodes are asked for them. */
export type Payees = {
  /** All that are heard of by now. */
  read: () => Promise<KnownPayees>;
  /** How many were heard of when they were last read. */
  count: () => number;
  /** Whether an address, in the form in which links have it, is one of them: also where another process read its logs. */
  known: () => Promise<IsOwner>;
};

/** Each takes a hash at first: others get their turn between so many. */
const testedAtOnceMax = 500;
/** Looking for owners in blooms costs more than naming them where so many are taken for held. */
const falseShareMax = 0.5;

/**
 * Keeps owners in the form of EVM; each is brought into it once. `addressOf` answers undefined for what is no
 * address of the chain, as of a link from before the catalogue was changed: nobody is paid there.
 */
export const openPayees = (
  owners: Pick<Owners, "read">,
  addressOf: (address: string) => Hex | undefined,
): Payees => {
  const all: Hex[] = [];
  const tests: BloomTest[] = [];
  const topics = new Set<Hex>();
  const addresses = new Set<string>();
  let readCount = 0;
  const keep = (list: readonly string[]): void => {
    for (; readCount < list.length; readCount += 1) {
      const address = list[readCount] ?? "";
      const hex = addressOf(address);
      if (hex === undefined) continue;
      const topic = topicOf(hex);
      addresses.add(address);
      topics.add(topic);
      all.push(topic);
    }
  };
  const listHeld = async (blooms: readonly Bloom[]): Promise<readonly Hex[]> => {
    if (falseShareOf(blooms) > falseShareMax) return all;
    const held: Hex[] = [];
    for (const [index, topic] of all.entries()) {
      const mayHold = (tests[index] ??= createBloomTest([topic]));
      if (blooms.some(mayHold)) held.push(topic);
      if (index % testedAtOnceMax === testedAtOnceMax - 1) await nextTurn();
    }
    return held;
  };
  return {
    read: async () => {
      keep(await owners.read());
      return { all, isPayee: (topic) => topics.has(topic), listHeld };
    },
    count: () => all.length,
    known: async () => {
      keep(await owners.read());
      return (address) => addresses.has(address);
    },
  };
};

const topicOf = (address: Hex): Hex => `0x${"0".repeat(24)}${address.slice(2).toLowerCase()}`;
