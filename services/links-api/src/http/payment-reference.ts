import { randomFillSync } from "node:crypto";

const referenceBytes = 16;
const drawnAtOnce = 256;

/**
 * Makes a source of payment references: 16 random bytes in hex, each given out once. They are drawn
 * many at a time, because asking the system for randomness is one of the dearest steps of a create.
 */
export const createReferences = (): (() => string) => {
  const drawn = Buffer.alloc(referenceBytes * drawnAtOnce);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      randomFillSync(drawn);
      at = 0;
    }
    at += referenceBytes;
    return drawn.toString("hex", at - referenceBytes, at);
  };
};
