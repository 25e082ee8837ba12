import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "viem";
import type { Owners } from "../../../watch/chain/owners.ts";
import type { IsOwner } from "../verify-receipt.ts";
import { type Bloom, type BloomTest, createBloomTest, estimateFalsePositiveRate } from "./bloom.ts";

/** Owners as topics: the recipients in the logs of token transfers. */
export type KnownPayees = {
  topics: readonly Hex[];
  isPayee: (topic: Hex) => boolean;
  /**
   * Returns the owners to which blocks with these blooms may contain a transfer. Returns all owners
   * if the blooms would exclude only a few.
   */
  filterByBlooms: (blooms: readonly Bloom[]) => Promise<readonly Hex[]>;
};

/** The owners of a chain in the form for requests to EVM nodes. */
export type Payees = {
  /** Returns all owners received so far. */
  read: () => Promise<KnownPayees>;
  /** Returns the number of owners at the last read. */
  count: () => number;
  /**
   * Returns a check whether an address, in the format of links, belongs to an owner. Includes
   * owners received after another process read the logs.
   */
  readIsOwner: () => Promise<IsOwner>;
};

/** The first test of an owner computes a hash, so the loop yields after this many. */
const testsPerTurnMax = 500;
/** Above this rate, testing owners against blooms costs more than requesting all of them. */
const falsePositiveRateMax = 0.5;

/**
 * Caches owners in EVM form and converts each once. `toHexAddress` returns undefined for an address
 * that is invalid on the chain, as a link from before a catalogue change may have. Such an owner is
 * never paid there.
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
