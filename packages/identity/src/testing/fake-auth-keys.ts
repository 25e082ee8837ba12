import type { IntrospectionAnswer, IntrospectionQuestion } from "@payment-links/contracts";
import type { Ask } from "../caller.ts";

/** An auth-keys whose answers a test gives, one by one or all at once. */
export type FakeAuthKeys = {
  ask: Ask;
  /** Every question so far. */
  questions: IntrospectionQuestion[];
  /** From now on answers at once: the answer, or the error. */
  reply(answer: IntrospectionAnswer | Error): void;
  /** From now on keeps questions waiting. */
  hold(): void;
  /** Answers the question that waits longest. */
  release(answer: IntrospectionAnswer | Error): void;
};

/** Makes an auth-keys that keeps questions waiting until it is told what to reply. */
export const createFakeAuthKeys = (): FakeAuthKeys => {
  type Waiting = (answer: IntrospectionAnswer | Error) => void;
  const questions: IntrospectionQuestion[] = [];
  const waiting: Waiting[] = [];
  let standing: IntrospectionAnswer | Error | undefined;
  return {
    questions,
    ask: (question) => {
      questions.push(question);
      return new Promise((resolve, reject) => {
        const settle: Waiting = (answer) =>
          answer instanceof Error ? reject(answer) : resolve(answer);
        if (standing === undefined) waiting.push(settle);
        else settle(standing);
      });
    },
    reply: (answer) => {
      standing = answer;
    },
    hold: () => {
      standing = undefined;
    },
    release: (answer) => {
      const settle = waiting.shift();
      if (settle === undefined) throw new Error("no question waits");
      settle(answer);
    },
  };
};
