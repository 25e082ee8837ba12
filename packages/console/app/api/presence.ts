/** The person would rather not prove to be there. */
export class NotProvenError extends Error {
  override readonly name = "NotProvenError";
}

/** A call that waits for a proof of presence by one of these methods. */
export type PresenceQuestion = { methods: readonly string[]; end: (isProven: boolean) => void };

let current: { question: PresenceQuestion; answer: Promise<void> } | undefined;
const listeners = new Set<() => void>();

const change = (to: typeof current): void => {
  current = to;
  for (const listener of listeners) listener();
};

/** Asks the person, once for all calls that wait; throws NotProvenError if they would rather not. */
export const askForPresence = (methods: readonly string[]): Promise<void> => {
  if (current !== undefined) return current.answer;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = (isProven: boolean): void => {
    change(undefined);
    if (isProven) resolve();
    else reject(new NotProvenError("presence was not proven"));
  };
  change({ question: { methods, end }, answer: promise });
  return promise;
};

/** The question that stands, if any. */
export const standingQuestion = (): PresenceQuestion | undefined => current?.question;

/** Tells when a question comes or goes; answers how to hear no more. */
export const hearQuestions = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
