import { ApiError } from "./api-error.ts";

/** An earlier attempt created the item, but the response with the secret was lost. */
export class LostSecretError extends Error {
  override readonly name = "LostSecretError";
}

type CreateRequest<Created> = {
  /** Identifies the item in the list. */
  name: string;
  list: () => Promise<readonly { id: string; name: string }[]>;
  create: () => Promise<Created>;
};

/**
 * Creates items whose secret is shown only once. After a lost response, checks whether the earlier
 * attempt created the item. If it did, throws a `LostSecretError` instead of creating a second
 * item.
 */
export const createDuplicateGuard = () => {
  /** The ids that existed before the first attempt whose response was lost. */
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
