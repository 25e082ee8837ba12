import { expect, test } from "@jest/globals";
import { createBloomTest, parseBloom } from "./bloom.ts";

const emptyBloom = `0x${"0".repeat(512)}` as const;
const fullBloom = `0x${"f".repeat(512)}` as const;
const address = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const topic = "0x9f16cbcc523c67a60c450e5ffe4f3b7b6dbe772e7abcadb2686ce029a9a0a2b6";

test("an empty bloom excludes a log, and a full one does not", () => {
  const mayContain = createBloomTest([address, topic]);
  expect(mayContain(parseBloom(emptyBloom))).toBe(false);
  expect(mayContain(parseBloom(fullBloom))).toBe(true);
});

// `read-logs.test.ts` checks the bit positions with the blooms of a real node. This test checks
// that each bit matters.
test("a bloom without any one of the bits excludes a log", () => {
  const mayContain = createBloomTest([address, topic]);
  const digits = Array.from({ length: 512 }, (_, index) => index);
  const requiredDigits = digits.filter(
    (index) =>
      !mayContain(parseBloom(`0x${fullBloom.slice(2, 2 + index)}0${fullBloom.slice(3 + index)}`)),
  );
  expect(requiredDigits.length).toBeGreaterThanOrEqual(4);
  expect(requiredDigits.length).toBeLessThanOrEqual(6);
});
