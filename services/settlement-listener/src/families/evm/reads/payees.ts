import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "viem";
import type { Owners } from "../../../watch/chain/owners.ts";
import type { IsOwner } from "../verify-receipt.ts";
import { type Bloom, type BloomTest, createBloomTest, estimateFalsePositiveRate } from "./bloom.ts";

/** Owners as logs name whom a token's transfer went to. */
export type KnownPayees = {
  topics: readonly Hex[];
  isPayee: (topic: Hex) => boolean;
  /** Those to whom blocks with these blooms may hold a transfer: all, where few would be left out. */
  filterByBlooms: (blooms: readonly Bloom[]) => Promise<readonly Hex[]>;
};

/** Owners of a chain in the form in which EVM nodes are asked for them. */
export type Payees = {
  /** All that are heard of by now. */
  read: () => Promise<KnownPayees>;
  /** How many were heard of when they were last read. */
  count: () => number;
  /** Whether an address, in the form in which links have it, is one of them: also where another process read its logs. */
  readIsOwner: () => Promise<IsOwner>;
};

/** Each takes a hash at first: others get their turn between so many. */
const testsPerTurnMax = 500;
/** Looking for owners in blooms costs more than naming them where so many are taken for held. */
const falsePositiveRateMax = 0.5;

/**
 * Keeps owners in the form of EVM; each is brought into it once. `addressOf` answers undefined for what is no
 * address of the chain, as of a link from before the catalogue was changed: nobody is paid there.
 */
export const createPayees = (
  owners: Pick<Owners, "readAll">,
  toHexAddress: (address: string) => Hex | undefined,
): Payees => {
  const payeeTopics: Hex[] = [];
  const bloomTests: BloomTest[] = [];
  const knownTopics = new Set<Hex>();
  const addresses = new Set<string>();
  let processedCount = 0;
  const addOwners = (ownerAddresses: readonly string[]): void => {
    for (; processedCount < ownerAddresses.length; processedCount += 1) {
      const address = ownerAddresses[processedCount] ?? "";
      const hex = toHexAddress(address);
      if (hex === undefined) continue;
      const topic = toTopic(hex);
      addresses.add(address);
      knownTopics.add(topic);
      payeeTopics.push(topic);
    }
  };
  const filterByBlooms = async (blooms: readonly Bloom[]): Promise<readonly Hex[]> => {
    if (estimateFalsePositiveRate(blooms) > falsePositiveRateMax) return payeeTopics;
    const matchingTopics: Hex[] = [];
    for (const [index, topic] of payeeTopics.entries()) {
      const mayContain = (bloomTests[index] ??= createBloomTest([topic]));
      if (blooms.some(mayContain)) matchingTopics.push(topic);
      if (index % testsPerTurnMax === testsPerTurnMax - 1) await nextTurn();
    }
    return matchingTopics;
  };
  return {
    read: async () => {
      addOwners(await owners.readAll());
      return { topics: payeeTopics, isPayee: (topic) => knownTopics.has(topic), filterByBlooms };
    },
    count: () => payeeTopics.length,
    readIsOwner: async () => {
      addOwners(await owners.readAll());
      return (address) => addresses.has(address);
    },
  };
};

const toTopic = (address: Hex): Hex => `0x${"0".repeat(24)}${address.slice(2).toLowerCase()}`;
