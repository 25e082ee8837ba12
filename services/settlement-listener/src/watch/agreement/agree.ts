import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError, type Witness } from "../chain-reader.ts";

/** What came of asking several providers for the same. */
export type Agreement<Key, Value> = {
  /** What as many as were asked for have said alike. */
  agreed: ReadonlyMap<Key, Value>;
  /** How many providers stand behind the answer that most of them gave; 0 where nobody voted. */
  voiceCountMin: number;
  /** How many answers were contradicted by another provider. */
  contradictedCount: number;
  /** The providers that said otherwise than what was agreed on. */
  dissenters: readonly string[];
};

/** How many providers must say the same before money is moved by it: two, where there are two. */
export const quorumOf = (witnesses: readonly Witness[]): number => Math.min(2, witnesses.length);

type Vote<Value> = { id: string; print: string; value: Value };

/**
 * Asks one provider after another, until `quorum` of them have given the same answer to each key. A
 * provider that cannot answer, or leaves a key out, has no vote on it. Answers are the same where
 * their prints are.
 */
export const agree = async <Key, Value>({
  ask,
  keys,
  printOf,
  quorum,
  witnesses,
}: {
  witnesses: readonly Witness[];
  quorum: number;
  keys: readonly Key[];
  ask: (witness: Witness, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;
  printOf: (value: Value) => string;
}): Promise<Agreement<Key, Value>> => {
  const votes = new Map(keys.map((key): [Key, Vote<Value>[]] => [key, []]));
  const agreed = new Map<Key, Value>();
  const hear = async (some: readonly Witness[]): Promise<void> => {
    const open = keys.filter((key) => !agreed.has(key));
    if (open.length === 0) return;
    const answers = await Promise.all(
      some.map((witness) => (quorum > 1 ? abstain(ask(witness, open)) : ask(witness, open))),
    );
    for (const [index, answer] of answers.entries()) {
      for (const [key, value] of answer) {
        const vote = { id: some[index]?.id ?? "", print: printOf(value), value };
        const ofKey = votes.get(key) ?? [];
        ofKey.push(vote);
        if (sameAs(vote, ofKey).length === quorum) agreed.set(key, value);
      }
    }
  };
  // One after the other from there on: mostly two are enough.
  await hear(witnesses.slice(0, quorum));
  for (const witness of witnesses.slice(quorum)) await hear([witness]);
  return { agreed, ...tell(votes, quorum) };
};

/** Who is away, or on the move, has no vote. */
const abstain = async <Key, Value>(
  asking: Promise<ReadonlyMap<Key, Value>>,
): Promise<ReadonlyMap<Key, Value>> => {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ChainUnreachableError || error instanceof ChainMovedError) {
      return new Map();
    }
    throw error;
  }
};

const sameAs = <Value>({ print }: Vote<Value>, votes: readonly Vote<Value>[]) =>
  votes.filter((vote) => vote.print === print);

const tell = <Key, Value>(votes: ReadonlyMap<Key, readonly Vote<Value>[]>, quorum: number) => {
  const dissenters = new Set<string>();
  let contradictedCount = 0;
  let voiceCountMin = Infinity;
  for (const ofKey of votes.values()) {
    const sizes = ofKey.map((vote) => sameAs(vote, ofKey).length);
    const most = Math.max(0, ...sizes);
    voiceCountMin = Math.min(voiceCountMin, most);
    if (sizes.every((size) => size === ofKey.length)) continue;
    contradictedCount += 1;
    if (most < quorum) continue;
    for (const [index, { id }] of ofKey.entries()) if (sizes[index] !== most) dissenters.add(id);
  }
  return { contradictedCount, dissenters: [...dissenters], voiceCountMin };
};
