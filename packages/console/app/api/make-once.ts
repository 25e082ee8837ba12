import { ApiError } from "./api-error.ts";

/** It was made by a try whose answer was lost, and with that its secret. */
export class MadeUnseenError extends Error {
  override readonly name = "MadeUnseenError";
}

type Making<Made> = {
  /** By which it is known again. */
  name: string;
  list: () => Promise<readonly { id: string; name: string }[]>;
  make: () => Promise<Made>;
};

/**
 * Makes things that have a secret, which no repeat would be told. After a try whose answer was lost it
 * looks whether that one made it, and makes no second one.
 */
export const createMaker = () => {
  /** What was there before the first try whose answer was lost. */
  let known: ReadonlySet<string> | undefined;
  return async <Made>({ name, list, make }: Making<Made>): Promise<Made> => {
    const listed = await list();
    const before = known ?? new Set(listed.map(({ id }) => id));
    if (listed.some((one) => one.name === name.trim() && !before.has(one.id))) {
      throw new MadeUnseenError(name);
    }
    try {
      const made = await make();
      known = undefined;
      return made;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) known = before;
      throw error;
    }
  };
};
