import { type Pool, type PoolOptions, openPool } from "./pool.ts";

/** A pool that is opened when it is first needed. */
export type LazyPool = {
  /** Returns the pool. Throws if the database cannot be reached; the next call tries again. */
  get(): Promise<Pool>;
  /** Closes the pool, if it is open. */
  end(): Promise<void>;
};

/** Creates a pool that nothing connects before its first use, for work that must not delay a start. */
export const createLazyPool = (options: PoolOptions): LazyPool => {
  let opening: Promise<Pool> | undefined;
  const open = async (): Promise<Pool> => {
    try {
      return await openPool(options);
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  return {
    get: () => (opening ??= open()),
    end: async () => {
      const pool = await opening?.catch(() => undefined);
      await pool?.end();
    },
  };
};
