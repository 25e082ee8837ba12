/** Returns a copy of URL parameters with some of them changed. An empty value removes its parameter. */
export const changeParams = (
  params: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams => {
  const changedParams = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changedParams.delete(name);
    else changedParams.set(name, value);
  }
  return changedParams;
};
