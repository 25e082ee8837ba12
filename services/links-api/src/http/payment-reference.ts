import { randomFillSync } from "node:crypto";

const referenceBytes = 16;
const referencesPerFill = 256;

/**
 * Creates a generator of payment references: 16 random bytes in hex, each returned once. It draws
 * many at a time because requesting randomness from the system is one of the most expensive steps
 * of a create.
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
