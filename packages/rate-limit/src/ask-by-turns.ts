/** The questions of one turn of the event loop. They are asked as one and due together. */
type Turn<Question, Answer> = {
  questions: Question[];
  askers: PromiseWithResolvers<Answer>[];
};

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
  let turn: Turn<Question, Answer> | undefined;

  const expire = ({ askers }: Turn<Question, Answer>): void => {
    // If this process was the busy one, the answer may lie in the socket, which is read before this
    // runs.
    setImmediate(() => {
      const error = new Error(`there was no answer within ${timeoutMs} ms`);
      for (const { reject } of askers) reject(error);
    });
  };
  const send = async (due: Turn<Question, Answer>): Promise<void> => {
    if (turn === due) turn = undefined;
    const timer = setTimeout(expire, timeoutMs, due);
    try {
      const answers = await ask(due.questions);
      for (const [index, answer] of answers.entries()) due.askers[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of due.askers) reject(error);
    } finally {
      clearTimeout(timer);
    }
  };

  return (question) => {
    if (turn === undefined || turn.questions.length === questionsMax) {
      const begun: Turn<Question, Answer> = { questions: [], askers: [] };
      turn = begun;
      setImmediate(() => void send(begun));
    }
    const asker = Promise.withResolvers<Answer>();
    turn.questions.push(question);
    turn.askers.push(asker);
    return asker.promise;
  };
};
