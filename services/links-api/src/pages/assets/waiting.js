// How long a page waits.

const askMsMax = 15_000;

/** Waits. */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What no person answers has a limit, as a node may never answer; behind it stands an error. */
export const inTime = (answer, milliseconds = askMsMax, error = new Error("no answer")) => {
  const late = pause(milliseconds).then(() => {
    throw error;
  });
  return Promise.race([answer, late]);
};
