import { ApiError } from "./api-error.ts";

/** It was made by a try whose answer was lost, and with that its secret. */
export class LostSecretError extends Error {
  override readonly name = "LostSecretError";
}

type CreateRequest<Created> = {
  /** By which it is known again. */
  name: string;
  list: () => Promise<readonly { id: string; name: string }[]>;
  create: () => Promise<Created>;
};

/**
 * Makes things that have a secret, which no repeat would be told. After a try whose answer was lost it
 * looks whether that one made it, and makes no second one.
 */
export const createDuplicateGuard = () => {
  /** What was there before the first try whose answer was lost. */
  let knownIds: ReadonlySet<string> | undefined;
  return async <Created>({ name, list, create }: CreateRequest<Created>): Promise<Created> => {
    const existingItems = await list();
    const idsBefore = knownIds ?? new Set(existingItems.map(({ id }) => id));
    if (existingItems.some((item) => item.name === name.trim() && !idsBefore.has(item.id))) {
      throw new LostSecretError(name);
    }
    try {
      const created = await create();
      knownIds = undefined;
      return created;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500))
        knownIds = idsBefore;
      throw error;
    }
  };
};
