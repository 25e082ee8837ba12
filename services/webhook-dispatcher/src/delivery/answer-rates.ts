import type { Clock } from "@payment-links/runtime";

/** How many answers came lately, by endpoint and in all. */
export type AnswerRates = {
  answered(endpointId: string): void;
  /** Answers of an endpoint in the last window. */
  of(endpointId: string): number;
  ofAll(): number;
  /** The endpoints that answered lately. */
  endpointIds(): Iterable<string>;
};

const windowMs = 200;

/** Answers are counted for as many endpoints; the least recently answered are forgotten first. */
const countedMax = 1_000;

type Answers = { window: number; count: number; countBefore: number };

/** Makes the counts, all zero. */
export const createAnswerRates = (clock: Clock): AnswerRates => {
  const answers = new Map<string, Answers>();
  let all: Answers | undefined;

  const thisWindow = (): number => Math.floor(clock.now().getTime() / windowMs);
  const recentOf = (counted: Answers | undefined): number => {
    if (counted === undefined) return 0;
    const age = thisWindow() - counted.window;
    if (age > 1) return 0;
    return age === 0 ? Math.max(counted.count, counted.countBefore) : counted.count;
  };

  return {
    answered: (endpointId) => {
      const window = thisWindow();
      const counted = countOne(answers.get(endpointId), window);
      answers.delete(endpointId);
      answers.set(endpointId, counted);
      all = countOne(all, window);
      const [oldest] = answers.keys();
      if (answers.size > countedMax && oldest !== undefined) answers.delete(oldest);
    },
    of: (endpointId) => recentOf(answers.get(endpointId)),
    ofAll: () => recentOf(all),
    endpointIds: () => answers.keys(),
  };
};

const countOne = (counted: Answers | undefined, window: number): Answers => {
  if (counted?.window === window) return { ...counted, count: counted.count + 1 };
  return { window, count: 1, countBefore: counted?.window === window - 1 ? counted.count : 0 };
};
