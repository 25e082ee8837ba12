import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError, type Verifier } from "../chain-reader.ts";

/** What came of asking several providers for the same. */
export type Agreement<Key, Value> = {
  /** What as many as were asked for have said alike. */
  agreedValues: ReadonlyMap<Key, Value>;
  /** How many providers stand behind the answer that most of them gave; 0 where nobody voted. */
  agreeingProviderCountMin: number;
  /** How many answers were contradicted by another provider. */
  contradictedCount: number;
  /** The providers that said otherwise than what was agreed on. */
  dissentingProviders: readonly string[];
};

/** How many providers must say the same before money is moved by it: two, where there are two. */
export const getQuorum = (verifiers: readonly Verifier[]): number => Math.min(2, verifiers.length);

type Vote<Value> = { providerId: string; fingerprint: string; value: Value };

/**
 * Asks one provider after another, until `quorum` of them have given the same answer to each key. A
 * provider that cannot answer, or leaves a key out, has no vote on it. Answers are the same where
 * their prints are.
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
  // One after the other from there on: mostly two are enough.
  await collectVotes(verifiers.slice(0, quorum));
  for (const verifier of verifiers.slice(quorum)) await collectVotes([verifier]);
  return { agreedValues, ...summarizeVotes(votes, quorum) };
};

/** Who is away, or on the move, has no vote. */
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
