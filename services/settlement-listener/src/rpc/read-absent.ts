import type { Question } from "./json-rpc.ts";
import type { ReaderGround } from "./open-chain-readers.ts";
import type { Provider } from "./provider.ts";

type Asked<Name extends string> = {
  what: string;
  names: readonly Name[];
  /** What only a node answers with true that still tells of that time; undefined where there is no such question. */
  findProof: (provider: Provider) => Promise<Question<boolean> | undefined>;
  /** Its answer is null where the node knows nothing of it. */
  questionOf: (name: Name) => Question;
};

/** One request holds as many, and the proof. */
const namesAtOnceMax = 50;

/**
 * Which of some names are nowhere on chain. That a node knows nothing of one says so only if it would
 * tell of it. Behind one address stand many nodes: the proof is asked for in the same request.
 */
export const readAbsent = <Name extends string>(
  { turn }: Pick<ReaderGround, "turn">,
  { findProof, names, questionOf, what }: Asked<Name>,
): Promise<ReadonlySet<Name>> =>
  turn.ask(what, async (provider) => {
    const absent = new Set<Name>();
    const proof = await findProof(provider);
    if (proof === undefined) return absent;
    for (let at = 0; at < names.length; at += namesAtOnceMax) {
      const asked = names.slice(at, at + namesAtOnceMax);
      const [isProved, ...answers] = await provider.ask([proof, ...asked.map(questionOf)]);
      if (!isProved) continue;
      for (const [index, name] of asked.entries()) if (answers[index] === null) absent.add(name);
    }
    return absent;
  });
