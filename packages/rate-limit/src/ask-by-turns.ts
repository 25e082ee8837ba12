import DataLoader from "dataloader";

type Options<Question, Answer> = {
  /** Asks several things at once; answers one thing for each. */
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  /** More than these are asked as several. */
  questionsMax: number;
  timeoutMs: number;
};

/**
 * Asks all questions of one turn of the event loop as one: under load a command per question costs more than
 * everything else about it. An answer rejects if it does not come in time. The time counts from when they are
 * asked, because nothing is under way before.
 */
export const askByTurns = <Question, Answer>({
  ask,
  questionsMax,
  timeoutMs,
}: Options<Question, Answer>): ((question: Question) => Promise<Answer>) => {
  const loader = new DataLoader<Question, Answer>(
    (questions) => inTime(ask(questions), timeoutMs),
    { cache: false, maxBatchSize: questionsMax, batchScheduleFn: (run) => setImmediate(run) },
  );
  return (question) => loader.load(question);
};

const inTime = async <Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> => {
  const late = Promise.withResolvers<never>();
  const expire = () => late.reject(new Error(`there was no answer within ${timeoutMs} ms`));
  // If this process was the busy one, the answer may lie in the socket, which is read before an immediate runs.
  const timer = setTimeout(() => setImmediate(expire), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
