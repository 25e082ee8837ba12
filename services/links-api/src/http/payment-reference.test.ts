import { expect, test } from "@jest/globals";
import { createReferenceGenerator } from "./payment-reference.ts";

test("references are 32 hex digits and unique, also across several random fills", () => {
  const [generateOne, generateOther] = [createReferenceGenerator(), createReferenceGenerator()];
  const references = Array.from({ length: 1_000 }, (_, index) =>
    index % 2 === 0 ? generateOne() : generateOther(),
  );
  for (const reference of references) expect(reference).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(references).size).toBe(1_000);
});
