/** What makes one link of however many clicks, and of a repeat after a lost answer. */
export type IdempotencyKeys = { keyFor: (body: unknown) => string };

/** Gives a form's order an idempotency key: the same one for as long as the order is the same. */
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

/** Without https a browser has no `crypto.randomUUID`. */
const generateKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
