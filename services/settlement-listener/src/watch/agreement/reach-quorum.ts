import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError, type Verifier } from "@payment-links/chains/chain-reader";

/** The result of asking several providers the same question. */
export type Agreement<Key, Value> = {
  /** The values that a quorum of providers agreed on. */
  agreedValues: ReadonlyMap<Key, Value>;
  /** The minimum over all keys of how many providers agree on the key. 0 if a key has no votes. */
  agreeingProviderCountMin: number;
  /** The number of keys on which providers contradicted each other. */
  contradictedCount: number;
  /** The providers that contradicted an agreed value. */
  dissentingProviders: readonly string[];
};

/**
 * Returns the quorum, which is the number of providers that must agree before a payment settles or
 * fails: two, or one if there is only one provider.
 */
export const getQuorum = (verifiers: readonly Verifier[]): number => Math.min(2, verifiers.length);

type Vote<Value> = { providerId: string; fingerprint: string; value: Value };

/**
 * Asks providers until `quorum` of them have returned the same value for each key. Two values are
 * the same if their fingerprints are equal. A provider that fails has no vote, and a provider that
 * leaves out a key has no vote on that key.
 */
export const reachQuorum = async <Key, Value>({
  fetchValues,
  keys,
  toFingerprint,
  quorum,
  verifiers,
}: {
  verifiers: readonly Verifier[];
  quorum: number;
  keys: readonly Key[];
  fetchValues: (verifier: Verifier, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;
  toFingerprint: (value: Value) => string;
}): Promise<Agreement<Key, Value>> => {
  const votes = new Map(keys.map((key): [Key, Vote<Value>[]] => [key, []]));
  const agreedValues = new Map<Key, Value>();
  const collectVotes = async (askedVerifiers: readonly Verifier[]): Promise<void> => {
    const openKeys = keys.filter((key) => !agreedValues.has(key));
    if (openKeys.length === 0) return;
    const results = await Promise.all(
      askedVerifiers.map((verifier) =>
        quorum > 1
          ? abstainOnError(fetchValues(verifier, openKeys))
          : fetchValues(verifier, openKeys),
      ),
    );
    for (const [index, keyValues] of results.entries()) {
      for (const [key, value] of keyValues) {
        const vote = {
          providerId: askedVerifiers[index]?.id ?? "",
          fingerprint: toFingerprint(value),
          value,
        };
        const keyVotes = votes.get(key) ?? [];
        keyVotes.push(vote);
        if (findMatchingVotes(vote, keyVotes).length === quorum) agreedValues.set(key, value);
      }
    }
  };
  // The other providers are asked one by one, because the first `quorum` providers usually agree.
  await collectVotes(verifiers.slice(0, quorum));
  for (const verifier of verifiers.slice(quorum)) await collectVotes([verifier]);
  return { agreedValues, ...summarizeVotes(votes, quorum) };
};

/** Returns no votes if the provider is unreachable or its chain moved during the read. */
const abstainOnError = async <Key, Value>(
  pendingValues: Promise<ReadonlyMap<Key, Value>>,
): Promise<ReadonlyMap<Key, Value>> => {
  try {
    return await pendingValues;
  } catch (error) {
    if (error instanceof ChainUnreachableError || error instanceof ChainMovedError) {
      return new Map();
    }
    throw error;
  }
};

const findMatchingVotes = <Value>({ fingerprint }: Vote<Value>, votes: readonly Vote<Value>[]) =>
  votes.filter((vote) => vote.fingerprint === fingerprint);

const summarizeVotes = <Key, Value>(
  votes: ReadonlyMap<Key, readonly Vote<Value>[]>,
  quorum: number,
) => {
  const dissentingProviders = new Set<string>();
  let contradictedCount = 0;
  let agreeingProviderCountMin = Infinity;
  for (const keyVotes of votes.values()) {
    const agreeingCounts = keyVotes.map((vote) => findMatchingVotes(vote, keyVotes).length);
    const largestCount = Math.max(0, ...agreeingCounts);
    agreeingProviderCountMin = Math.min(agreeingProviderCountMin, largestCount);
    if (agreeingCounts.every((agreeingCount) => agreeingCount === keyVotes.length)) continue;
    contradictedCount += 1;
    if (largestCount < quorum) continue;
    for (const [index, { providerId }] of keyVotes.entries())
      if (agreeingCounts[index] !== largestCount) dissentingProviders.add(providerId);
  }
  return {
    contradictedCount,
    dissentingProviders: [...dissentingProviders],
    agreeingProviderCountMin,
  };
};
