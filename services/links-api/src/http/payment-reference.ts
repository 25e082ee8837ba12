import { randomFillSync } from "node:crypto";

const referenceBytes = 16;
const referencesPerFill = 256;

/**
 * Makes a source of payment references: 16 random bytes in hex, each given out once. They are drawn
 * many at a time, because asking the system for randomness is one of the dearest steps of a create.
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
