import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "viem";
import type { Owners } from "../../reads/watched-chain.ts";
import type { IsOwner } from "./verify-receipt.ts";
import { type Bloom, type BloomTest, createBloomTest, estimateFalsePositiveRate } from "./bloom.ts";

/** The owners, in the form of log topics. They are the recipients of token transfers. */
export type KnownPayees = {
  topics: readonly Hex[];
  isPayee: (topic: Hex) => boolean;
  /**
   * Returns the owners that may have received a transfer in blocks with these blooms. Returns all
   * owners if the blooms would exclude only a few.
   */
  filterByBlooms: (blooms: readonly Bloom[]) => Promise<readonly Hex[]>;
};

/** The owners of a chain, in the form that requests to EVM nodes need. */
export type Payees = {
  /** Returns all owners received so far. */
  read: () => Promise<KnownPayees>;
  /** Returns how many owners there were at the last read. */
  count: () => number;
  /**
   * Returns a function that checks whether an address, in the format of links, belongs to an owner.
   * It includes owners that another process received after the logs were read.
   */
  readIsOwner: () => Promise<IsOwner>;
};

/**
 * The first test of each owner computes a hash, so the loop yields to other tasks after this many
 * tests.
 */
const testsPerTurnMax = 500;
/**
 * If the blooms match more often than this, testing each owner against them costs more than
 * requesting the transfers of all owners.
 */
const falsePositiveRateMax = 0.5;

/**
 * Caches the owners in the form of EVM nodes and converts each of them once. `toHexAddress` returns
 * undefined for an address that is invalid on the chain. A link that was created before a catalogue
 * change can have such an address, and it is never paid there.
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
