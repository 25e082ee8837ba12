const limitMs = 10_000;
const stepMs = 5;

/** Waits until a condition holds and answers what it found; fails after ten seconds, saying of what. */
export const until = async <Found>(
  what: string,
  find: () => Promise<Found | undefined | false> | Found | undefined | false,
): Promise<Found> => {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  throw new Error(`it did not come to be: ${what}`);
};
