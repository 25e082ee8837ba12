import type { Redis } from "ioredis";

/** The questions of one turn of the event loop. They go out in one write and are due together. */
type Turn = {
  refuse: ((error: Error) => void)[];
  unansweredCount: number;
  timer: NodeJS.Timeout | undefined;
};

/** Asks Redis something; rejects if the answer does not come in time. */
export type AskRedis = (ask: () => Promise<unknown>) => Promise<unknown>;

/**
 * Sends all questions of one turn of the event loop in one write: under load a write per question
 * costs more than everything else about it. The time counts from that write, because nothing is
 * under way before.
 */
export const askByTurns = (redis: Redis, timeoutMs: number): AskRedis => {
  let turn: Turn | undefined;

  const expire = (due: Turn): void => {
    // If this process was the busy one, the answer may lie in the socket, which is read before this
    // runs.
    setImmediate(() => {
      const error = new Error(`Redis did not answer within ${timeoutMs} ms`);
      for (const refuse of due.refuse) refuse(error);
    });
  };
  const begin = (): Turn => {
    const begun: Turn = { refuse: [], unansweredCount: 0, timer: undefined };
    // Before the first connection there is no stream.
    const stream: Redis["stream"] | undefined = redis.stream;
    stream?.cork();
    setImmediate(() => {
      turn = undefined;
      stream?.uncork();
      if (begun.unansweredCount > 0) begun.timer = setTimeout(expire, timeoutMs, begun);
    });
    return begun;
  };

  return (ask) =>
    new Promise((resolve, reject) => {
      turn ??= begin();
      const its = turn;
      its.unansweredCount += 1;
      its.refuse.push(reject);
      const end = () => {
        its.unansweredCount -= 1;
        if (its.unansweredCount === 0) clearTimeout(its.timer);
      };
      ask().then(
        (answer) => {
          end();
          resolve(answer);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
};
