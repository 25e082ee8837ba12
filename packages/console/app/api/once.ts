/** What makes one link of however many clicks, and of a repeat after a lost answer. */
export type Once = { keyFor: (body: unknown) => string };

/** Gives a form's order an idempotency key: the same one for as long as the order is the same. */
export const createOnce = (): Once => {
  let last: { text: string; key: string } | undefined;
  return {
    keyFor: (body) => {
      const text = JSON.stringify(body);
      if (last?.text !== text) last = { text, key: drawKey() };
      return last.key;
    },
  };
};

/** Without https a browser has no `crypto.randomUUID`. */
const drawKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
