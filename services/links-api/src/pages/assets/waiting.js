// How long a page waits.

const askMsMax = 15_000;

/** Waits. */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What no person answers has a limit, as a node may never answer. */
export const inTime = (answer, milliseconds = askMsMax) => {
  const late = pause(milliseconds).then(() => {
    throw new Error("no answer");
  });
  return Promise.race([answer, late]);
};
