import { randomFillSync } from "node:crypto";

const referenceBytes = 16;
const referencesPerFill = 256;

/**
 * Creates a generator of payment references. A reference is 16 random bytes in hex and is returned
 * only once. The generator fetches random bytes for many references at a time, because fetching
 * them is one of the most expensive steps of creating a link.
 */
export const createReferenceGenerator = (): (() => string) => {
  const randomBuffer = Buffer.alloc(referenceBytes * referencesPerFill);
  let offset = randomBuffer.length;
  return () => {
    if (offset === randomBuffer.length) {
      randomFillSync(randomBuffer);
      offset = 0;
    }
    offset += referenceBytes;
    return randomBuffer.toString("hex", offset - referenceBytes, offset);
  };
};
