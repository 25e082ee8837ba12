type Answers = { window: number; count: number; countBefore: number };

/** How many answers came lately, by endpoint and in all. */
export type AnswerRates = {
  /** The least recently answered first. */
  readonly endpoints: Map<string, Answers>;
  readonly all: Answers;
};

const windowMs = 200;

/** Answers are counted for as many endpoints; the least recently answered are forgotten first. */
const countedMax = 1_000;

/** Makes the counts, all zero. */
export const createAnswerRates = (): AnswerRates => ({ endpoints: new Map(), all: noAnswers() });

/** Counts an answer of the endpoint. */
export const countAnswer = (rates: AnswerRates, endpointId: string, nowMs: number): void => {
  const { endpoints, all } = rates;
  const answers = endpoints.get(endpointId) ?? noAnswers();
  countOne(answers, nowMs);
  endpoints.delete(endpointId);
  endpoints.set(endpointId, answers);
  countOne(all, nowMs);
  if (endpoints.size <= countedMax) return;
  const [oldest] = endpoints.keys();
  if (oldest !== undefined) endpoints.delete(oldest);
};

/** Answers of an endpoint in the last window. */
export const answersOf = (rates: AnswerRates, endpointId: string, nowMs: number): number => {
  const answers = rates.endpoints.get(endpointId);
  return answers === undefined ? 0 : countRecent(answers, nowMs);
};

/** Answers of all endpoints in the last window. */
export const answersOfAll = ({ all }: AnswerRates, nowMs: number): number =>
  countRecent(all, nowMs);

const noAnswers = (): Answers => ({ window: -1, count: 0, countBefore: 0 });

const countRecent = ({ window, count, countBefore }: Answers, nowMs: number): number => {
  const age = windowOf(nowMs) - window;
  // It is negative where the machine's clock was set back.
  if (age < 0 || age > 1) return 0;
  return age === 0 ? Math.max(count, countBefore) : count;
};

const countOne = (answers: Answers, nowMs: number): void => {
  const age = windowOf(nowMs) - answers.window;
  if (age !== 0) {
    answers.window += age;
    answers.countBefore = age === 1 ? answers.count : 0;
    answers.count = 0;
  }
  answers.count += 1;
};

const windowOf = (nowMs: number): number => Math.floor(nowMs / windowMs);
