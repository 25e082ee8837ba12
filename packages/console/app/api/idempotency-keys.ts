/** Prevents duplicate links after a double click or a repeat following a lost response. */
export type IdempotencyKeys = { keyFor: (body: unknown) => string };

/** Creates the idempotency keys of one form. The key stays the same while the body stays the same. */
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
