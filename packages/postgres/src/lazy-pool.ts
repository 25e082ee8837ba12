import { type Pool, type PoolOptions, connectPool } from "./pool.ts";

/** A pool that connects when it is first needed. */
export type LazyPool = {
  /** Returns the pool. Throws if the database is unreachable. The next call tries again. */
  get(): Promise<Pool>;
  /** Closes the pool if it was connected. */
  end(): Promise<void>;
};

/** Creates a pool that connects at its first use. Use it for work that must not delay startup. */
export const createLazyPool = (options: PoolOptions): LazyPool => {
  let connecting: Promise<Pool> | undefined;
  const connect = async (): Promise<Pool> => {
    try {
      return await connectPool(options);
    } catch (error) {
      connecting = undefined;
      throw error;
    }
  };
  return {
    get: () => (connecting ??= connect()),
    end: async () => {
      const pool = await connecting?.catch(() => undefined);
      await pool?.end();
    },
  };
};
