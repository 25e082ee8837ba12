/** Prevents duplicate links when the user double-clicks or submits again after a lost response. */
export type IdempotencyKeys = { keyFor: (body: unknown) => string };

/** Creates the idempotency keys of one form. The key changes only when the body changes. */
export const createIdempotencyKeys = (): IdempotencyKeys => {
  let lastEntry: { serializedBody: string; key: string } | undefined;
  return {
    keyFor: (body) => {
      const serializedBody = JSON.stringify(body);
      if (lastEntry?.serializedBody !== serializedBody)
        lastEntry = { serializedBody, key: generateKey() };
      return lastEntry.key;
    },
  };
};

/** Generates a key. Without https, browsers do not have `crypto.randomUUID`. */
const generateKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
