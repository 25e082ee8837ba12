const waitMsMax = 60_000;

/** Stores the times of named events. Each can be awaited once, before or after it occurs. */
export const createInstants = () => {
  const instants = new Map<string, PromiseWithResolvers<number>>();
  const findOrCreate = (name: string): PromiseWithResolvers<number> => {
    const instant = instants.get(name) ?? Promise.withResolvers<number>();
    instants.set(name, instant);
    return instant;
  };
  return {
    record: (name: string, at: number): void => findOrCreate(name).resolve(at),
    waitFor: async (name: string): Promise<number> => {
      const { promise, reject } = findOrCreate(name);
      const timeout = setTimeout(() => reject(new Error(`${name} did not arrive`)), waitMsMax);
      try {
        return await promise;
      } finally {
        clearTimeout(timeout);
        instants.delete(name);
      }
    },
  };
};
