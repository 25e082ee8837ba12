const pollMs = 5;

/** Waits until the condition holds; fails, with its name, when it does not within `timeoutMs`. */
export const eventually = async (
  name: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 5_000,
): Promise<void> => {
  const endsAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`not within ${timeoutMs} ms: ${name}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};
