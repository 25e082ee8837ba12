const waitMsMax = 60_000;

/** Instants by their names; each is awaited once, before or after it comes. */
export const openInstants = () => {
  const instants = new Map<string, PromiseWithResolvers<number>>();
  const find = (name: string): PromiseWithResolvers<number> => {
    const found = instants.get(name) ?? Promise.withResolvers<number>();
    instants.set(name, found);
    return found;
  };
  return {
    came: (name: string, at: number): void => find(name).resolve(at),
    when: async (name: string): Promise<number> => {
      const { promise, reject } = find(name);
      const limit = setTimeout(() => reject(new Error(`${name} did not come`)), waitMsMax);
      try {
        return await promise;
      } finally {
        clearTimeout(limit);
        instants.delete(name);
      }
    },
  };
};
